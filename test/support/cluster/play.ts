/**
 * One story of three nodes: several clients ask any of them at random, under the same keys now and then, while faults
 * come and go; then everything is healed, what nobody knows is asked again under its key, and the checks are made.
 */
import { createClient, type Client } from '../../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { patiently } from '../patience.ts';
import { seeded } from '../seeded.ts';
import { openBooks, watchEpochs } from './books.ts';
import { ADDRESS, KEY, PAYMENT, problemsOf, type Issued, type Paid } from './checks.ts';
import type { TestCluster } from './cluster.ts';
import { keepEvidence } from './evidence.ts';
import { keepRedis, sabotage } from './faults.ts';
import type { Answer, RegisterInput } from './linearizable.ts';
import { Recorder, type Operation } from './recorder.ts';

const CLIENTS = 5;
const CALL_MS = 7_000;
const TRIES = 4;
/** Keys of one story; each is asked a few times. */
const KEYS_AT_ONCE = 12;
const KEY_TRIES_MAX = 20;
const PAUSE_MS = 60;

export interface StoryOptions {
  readonly seed: number;
  readonly playMs: number;
}

export interface ClusterStory {
  readonly seed: number;
  readonly problems: readonly string[];
  /** A folder of what the cluster looked like, where there are problems. */
  readonly evidence: string | null;
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<'asked' | 'ok' | 'unknown' | 'payments', number>>;
}

interface Key {
  readonly account: number;
  readonly key: string;
  readonly userRef: string;
  tries: number;
}

/** Refusals after which nobody knows, or nothing was done; all others have a cause that this application has not. */
const OPEN: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);

class Player {
  readonly recorder = new Recorder();
  readonly problems: string[] = [];
  readonly keys: Key[] = [];
  readonly addresses: { account: number; issued: Issued; writes: boolean; tries: number }[] = [];
  readonly #cluster: TestCluster;
  readonly #seed: number;
  readonly #random: () => number;
  #payments = 0;

  constructor(cluster: TestCluster, seed: number) {
    this.#cluster = cluster;
    this.#seed = seed;
    this.#random = seeded(seed);
  }

  get payments(): number {
    return this.#payments;
  }

  /** Two addresses of each account: one is paid, one is archived and brought back. */
  async prepare(): Promise<void> {
    for (const account of this.#cluster.apiKeys.keys()) {
      for (const writes of [false, true]) {
        const key = this.#newKey(account, writes ? 'register' : 'paid');
        const issued = await this.settle(key);
        this.addresses.push({ account, issued, writes, tries: 0 });
      }
    }
  }

  async play(client: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const dice = this.#random();
      if (dice < 0.45) await this.#askKey(client);
      else if (dice < 0.7) await this.#pay(client);
      else await this.#useRegister(client);
      await new Promise((resolve) => setTimeout(resolve, this.#random() * PAUSE_MS));
    }
  }

  /** Asks under a key until its answer is known. */
  async settle(key: Key): Promise<Issued> {
    let last: Issued | null = null;
    await patiently(
      `an answer under ${key.key}`,
      async () => (last = await this.#issue('settling', key, key.userRef)),
      (issued) => issued !== null,
    );
    return last!;
  }

  /** The last payment of an account buries those before it: each is confirmed. */
  async bury(account: number): Promise<void> {
    const { issued } = this.addresses.find((one) => one.account === account && !one.writes)!;
    const units = this.#newAmount();
    await patiently(
      'the last payment',
      () => this.#payOnce('settling', { account, address: issued.address, units, autoConfirm: true }),
      (paid) => paid !== null,
    );
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }

  #at(account: number): { client: Client; node: string } {
    const node = this.#pick(this.#cluster.nodes);
    const apiKey = this.#cluster.apiKeys[account]!;
    return { node: node.name, client: createClient({ baseUrl: node.url, apiKey, timeoutMs: CALL_MS }) };
  }

  #newKey(account: number, name: string): Key {
    const key: Key = {
      account,
      key: `${this.#seed}-${name}-${this.keys.length}`,
      userRef: `s${this.#seed}-${this.keys.length}`,
      tries: 0,
    };
    this.keys.push(key);
    return key;
  }

  #newAmount(): bigint {
    return BigInt(this.#seed) * 100_000n + BigInt((this.#payments += 1));
  }

  /** A refusal that leaves it open; any other is an error that the client did not cause. */
  #isOpen(what: string, { code, details }: Refusal): boolean {
    if (!OPEN.has(code)) this.problems.push(`${what} was refused ${code} ${JSON.stringify(details)}`);
    return OPEN.has(code);
  }

  async #askKey(client: string): Promise<void> {
    const known = this.keys.slice(-KEYS_AT_ONCE).filter(({ tries }) => tries < KEY_TRIES_MAX);
    const key =
      known.length > 0 && this.#random() < 0.5
        ? this.#pick(known)
        : this.#newKey(Math.floor(this.#random() * this.#cluster.apiKeys.length), 'key');
    // Now and then somebody has another body under a key.
    const userRef = this.#random() < 0.1 ? `${key.userRef}-other` : key.userRef;
    for (let tries = 0; tries < TRIES && key.tries < KEY_TRIES_MAX; tries += 1)
      if ((await this.#issue(client, key, userRef)) !== null) return;
  }

  /** The answer; null where it is not known, or where the key has another body. */
  async #issue(by: string, key: Key, userRef: string): Promise<Issued | null> {
    key.tries += 1;
    const { client, node } = this.#at(key.account);
    const operation = this.recorder.invoke<{ body: string }, Answer<Issued>>(
      `${KEY}${key.key}`,
      { body: userRef },
      `${by} at ${node}`,
    );
    const answer = await client.call('createAddress', { body: { chain: 'eth', userRef }, idempotencyKey: key.key });
    if (!isRefusal(answer)) {
      const { id, address } = answer;
      this.recorder.ok(operation, { reply: { id, address } });
      return { id, address };
    }
    if (answer.code === 'IDEMPOTENCY_CONFLICT') {
      this.recorder.ok(operation, { conflict: true });
      // Settling: the other body was first, and is what the key stands for.
      return by === 'settling' && userRef === key.userRef ? this.#issue(by, key, `${key.userRef}-other`) : null;
    }
    this.#isOpen(`${by} at ${node}: ${key.key}`, answer);
    return null;
  }

  async #pay(client: string): Promise<void> {
    const { account, issued } = this.#pick(this.addresses.filter(({ writes }) => !writes));
    const units = this.#newAmount();
    const autoConfirm = this.#random() < 0.3;
    for (let tries = 0; tries < TRIES; tries += 1)
      if ((await this.#payOnce(client, { account, address: issued.address, units, autoConfirm })) !== null) return;
  }

  async #payOnce(
    by: string,
    { account, address, units, autoConfirm }: { account: number; address: string; units: bigint; autoConfirm: boolean },
  ): Promise<Paid | null> {
    const { client, node } = this.#at(account);
    const operation = this.recorder.invoke<object, Paid>(`${PAYMENT}${units}`, { autoConfirm }, `${by} at ${node}`);
    const paid = await client.call('simulateDeposit', {
      body: { chain: 'eth', address, amount: `0.${String(units).padStart(18, '0')}`, autoConfirm },
      idempotencyKey: `${this.#seed}-pay-${units}`,
    });
    if (!isRefusal(paid)) {
      this.recorder.ok(operation, { txid: paid.txid });
      return { txid: paid.txid };
    }
    this.#isOpen(`${by} at ${node}: payment of ${units}`, paid);
    return null;
  }

  async #useRegister(by: string): Promise<void> {
    const register = this.#pick(this.addresses.filter(({ writes, tries }) => writes && tries < KEY_TRIES_MAX));
    if (register === undefined) return;
    register.tries += 1;
    const { account, issued } = register;
    const { client, node } = this.#at(account),
      call = { params: { id: issued.id } };
    const dice = this.#random();
    const input: RegisterInput = dice < 0.5 ? 'read' : { write: dice < 0.75 ? 'archived' : 'active' };
    const operation = this.recorder.invoke<RegisterInput, string>(`${ADDRESS}${issued.id}`, input, `${by} at ${node}`);
    const answer =
      input === 'read'
        ? await client.call('getAddress', call)
        : await client.call(input.write === 'archived' ? 'archiveAddress' : 'unarchiveAddress', call);
    if (!isRefusal(answer)) this.recorder.ok(operation, answer.status);
    else if (answer.code === 'CONFLICT' && input !== 'read') this.recorder.ok(operation, `was ${input.write}`);
    else this.#isOpen(`${by} at ${node}: status of ${issued.id}`, answer);
  }
}

/** Tells one story; the cluster is whole before and, where there is no problem, after. */
export async function playStory(cluster: TestCluster, options: StoryOptions): Promise<ClusterStory> {
  const player = new Player(cluster, options.seed);
  const faults: string[] = [];
  const problems = await tell(cluster, player, faults, options).catch((error: unknown) => [
    `the story did not go on: ${error instanceof Error ? error.message : String(error)}`,
  ]);
  const all = [...player.problems, ...problems];
  const { operations } = player.recorder;
  const of = (outcome: Operation['outcome']) => operations.filter((one) => one.outcome === outcome).length;
  return {
    seed: options.seed,
    faults,
    problems: all,
    evidence:
      all.length === 0 ? null : await keepEvidence(cluster, { seed: options.seed, problems: all, history: operations }),
    counts: { asked: operations.length, ok: of('ok'), unknown: of('unknown'), payments: player.payments },
  };
}

/** What is wrong in the end. `faults` takes their names as they begin. */
async function tell(
  cluster: TestCluster,
  player: Player,
  faults: string[],
  { seed, playMs }: StoryOptions,
): Promise<string[]> {
  await cluster.heal();
  await keepRedis(cluster);
  await player.prepare();
  const marks = cluster.fleets.map(({ receiver }) => receiver.arrivals.length);
  const epochs = watchEpochs(cluster);
  const deadline = performance.now() + playMs;
  const isOver = () => performance.now() > deadline;
  try {
    await Promise.all([
      sabotage(cluster, seeded(seed + 1_000_000), isOver, faults),
      ...Array.from({ length: CLIENTS }, (_, at) => player.play(`client ${at}`, isOver)),
    ]);
    await cluster.heal();
    for (const key of player.keys) await player.settle(key);
    for (const account of cluster.apiKeys.keys()) await player.bury(account);
    const read = () => openBooks(cluster, { seed, marks });
    const books = await patiently('rest', read, ({ open }) => open.length === 0).catch(read);
    return problemsOf(player.recorder.operations, { ...books, epochs: await epochs.end() });
  } finally {
    await epochs.end();
  }
}
