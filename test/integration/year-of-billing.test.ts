/**
 * A year of billing on the real store: accounts of two nodes on a driven clock, plans that change at random, nodes that
 * die in the middle of what they do. What was billed is compared with exact fractions of what happened. Console B10,
 * D6.
 */
import test from 'ava';
import { createAccountEntity, type AccountReply } from '../../actors/account/account.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import { closePeriods } from '../../actors/billing/rounds.ts';
import { ask, createSystem, systemClock, type ActorSystem } from '../../actors/kernel/index.ts';
import { restartPolicy } from '../../actors/kernel/restart-policy.ts';
import { settleBands } from '../../actors/plan/rounds.ts';
import { boundsOf } from '../../actors/billing/charges.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import { initialAccount } from '../../model/account/state.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import { createStores, type Stores } from '../../persistence/postgres/stores.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { newId, SHARD_COUNT, shardOf } from '../../protocol/node/ids.ts';
import type { Band } from '../../protocol/slugs.ts';
import { RESTARTS } from '../actors/kernel/node.ts';
import { billOf, type Happening } from '../support/billing-model.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { seeded } from '../support/seeded.ts';

/** Two hundred by hand: `FLOCK_BILLED_ACCOUNTS=200`, with another `FLOCK_BILLING_SEED`. */
const ACCOUNTS = Number(process.env['FLOCK_BILLED_ACCOUNTS'] ?? 24);
const random = seeded(Number(process.env['FLOCK_BILLING_SEED'] ?? 1));
const upTo = (most: number): number => Math.floor(random() * most);
const HOUR_MS = 3_600_000,
  DAY_MS = 24 * HOUR_MS;
/** A year that is over: no statement is issued of a month that is not, whatever a node's clock says. */
const YEAR = 2025;
/** Far more than nodes die in one. */
const ROUNDS_MAX = 50;
const BANDS: readonly Band[] = ['launch', 'growth', 'scale', 'enterprise'];
const FREE = { tier: 'free', band: 'launch', subscription: 'active', paymentsActive: false } as const;

let nowMs = Date.UTC(YEAR, 0, 1) - DAY_MS;
let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

class Died extends Error {}

/** A process of the cloud: its stores answer until it dies: one statement was done, and its answer is lost. */
class Node {
  readonly name: string;
  readonly stores: Stores;
  readonly system: ActorSystem;
  readonly accounts: Pick<Accounts, 'ask'>;
  shards: ReadonlySet<number> = new Set();
  #epochs = new Map<number, number>();
  /** Calls of its stores until it dies; null while nobody kills it. */
  #left: number | null = null;
  isDead = false;

  constructor(name: string) {
    this.name = name;
    const options = { nowMs: () => nowMs, epochOf: (shard: number) => this.#epochs.get(shard), callersClock: true };
    this.stores = this.#mortal(createStores({ sql: database.sql, initialAccount, ...options }));
    const policy = restartPolicy(RESTARTS);
    this.system = createSystem({
      clock: { ...systemClock, nowMs: () => nowMs },
      random: () => 0,
      policies: { entity: policy, worker: policy },
      log: { warn: () => undefined, error: () => undefined },
      hooks: {},
    });
    const entities = this.system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
      entity: createAccountEntity({ book: createChainBook([]) }),
      store: this.stores.accounts,
      shardOf,
    });
    this.accounts = { ask: (async (id, command) => ask(entities.address(id), command)) as Accounts['ask'] };
  }

  async take(shards: readonly number[]): Promise<void> {
    this.#epochs = new Map([...this.#epochs, ...(await this.stores.ownership.claimShards(this.name, [...shards]))]);
    this.shards = new Set(this.#epochs.keys());
  }

  give(shards: readonly number[]): void {
    for (const shard of shards) this.#epochs.delete(shard);
    this.shards = new Set(this.#epochs.keys());
  }

  dieAfter(calls: number): void {
    this.#left = calls;
  }

  #mortal(stores: Stores): Stores {
    const call = async (act: () => Promise<unknown>): Promise<unknown> => {
      if (this.isDead) throw new Died(this.name);
      const answer = await act();
      if (this.#left !== null) this.#left -= 1;
      if (this.#left === 0) this.isDead = true;
      if (this.isDead) throw new Died(this.name);
      return answer;
    };
    const within = <T extends object>(store: T): T =>
      new Proxy(store, {
        get: (of, name) => {
          const made = Reflect.get(of, name) as (...given: unknown[]) => Promise<unknown>;
          // It answers at once, of what it has in memory.
          if (name === 'holds') return made;
          return (...given: unknown[]) => call(() => made.apply(of, given));
        },
      });
    const { accounts, billing, operators } = stores;
    return { ...stores, accounts: within(accounts), billing: within(billing), operators: within(operators) };
  }
}

const SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
const half = (at: number): number[] => SHARDS.filter((shard) => shard % 2 === at);

/** Two nodes; whoever dies is replaced, its accounts by the other one's until then. */
class Cloud {
  nodes: [Node, Node] = [new Node('node-1'), new Node('node-2')];
  #made = 2;
  readonly accounts: Pick<Accounts, 'ask'> = {
    ask: ((id: AccountId, command: AccountCommand) => {
      const owner = this.nodes.find(({ shards }) => shards.has(shardOf(id)))!;
      return owner.accounts.ask(id, command);
    }) as Accounts['ask'],
  };

  async begin(): Promise<void> {
    await Promise.all(this.nodes.map((node, at) => node.take(half(at))));
  }

  /** Everything that an owner's death leaves undone is taken over; `meanwhile` nobody has its accounts. */
  async mend(meanwhile: (shards: ReadonlySet<number>) => Promise<void>): Promise<number> {
    let deaths = 0;
    for (const at of [0, 1] as const) {
      const node = this.nodes[at];
      if (!node.isDead) continue;
      deaths += 1;
      await node.system.stop(0);
      await meanwhile(node.shards);
      const other = this.nodes[1 - at]!;
      // The other one has them for a while, if it lives: as it is after a takeover.
      if (!other.isDead) await other.take([...node.shards]);
      if (!other.isDead) other.give([...node.shards]);
      this.nodes[at] = new Node(`node-${(this.#made += 1)}`);
      await this.nodes[at].take([...node.shards]);
    }
    return deaths;
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map(({ system }) => system.stop(2_000)));
  }
}

async function organization({ identity }: Stores): Promise<AccountId> {
  const userId = newId('usr', nowMs),
    id = newId('org', nowMs),
    email = `${userId}@example.com`;
  const person = { passwordHash: 'x', sealedTotpSecret: null, totpConfirmed: false, platformRole: null };
  await identity.insertUser({ id: userId, email, ...person });
  await identity.createOrganization({ id, name: 'Test', createdAtMs: nowMs }, userId, FREE);
  return accountIdOf(id, 'live');
}

/** What the account's own events say of its plan, and what was settled beside them. */
class Ledger {
  readonly history: Happening[] = [];
  #seen = 0n;
  #waitingMs: number | null = null;

  async read(id: AccountId): Promise<void> {
    const events = await database.owner<{ version: string; body: AccountEvent }[]>`
      select version::text, body from event where account_id = ${id} and version > ${String(this.#seen)}
       order by event.version`;
    for (const [at, { version, body }] of events.entries()) {
      this.#seen = BigInt(version);
      if (body.type === 'band_change_scheduled') this.#waitingMs = body.atMs;
      if (body.type !== 'plan_changed') continue;
      const next = events[at + 1]?.body;
      const waited = next?.type === 'band_change_ended' && next.reason === 'in_force';
      const plan = body.plan.tier === 'free' ? 'free' : body.plan.band;
      this.history.push({ atMs: waited ? this.#waitingMs! : nowMs, plan });
    }
  }
}

/** The account's settled withdrawals of this month, as its stored state counts them: while it has no owner. */
async function settleMore(id: AccountId, ledger: Ledger): Promise<void> {
  await ledger.read(id);
  const month = new Date(nowMs).toISOString().slice(0, 7),
    more = 1 + upTo(30_000);
  const [row] = await database.admin<{ open: boolean }[]>`
    update flock.account set state = jsonb_set(state, array['settledBy', ${month}]::text[],
        to_jsonb(coalesce((state -> 'settledBy' ->> ${month})::bigint, 0) + ${more}::bigint))
     where account_id = ${id} and jsonb_typeof(state -> 'settledBy') = 'object' returning true as open`;
  if (row !== undefined) ledger.history.push({ atMs: nowMs, settled: more });
}

test('console B10, B15, D6: a year of accounts on two nodes that die at any step: statements are what exact fractions say, their numbers have no gap, no letter is written twice', async (t) => {
  t.timeout(1_800_000);
  const cloud = new Cloud();
  t.teardown(() => cloud.end());
  await cloud.begin();
  const ids = await Promise.all(Array.from({ length: ACCOUNTS }, () => organization(cloud.nodes[0].stores)));
  const ledgers = new Map(ids.map((id) => [id, new Ledger()]));
  let deaths = 0;
  const mend = async () => {
    deaths += await cloud.mend(async (shards) => {
      for (const id of ids) if (shards.has(shardOf(id)) && random() < 0.5) await settleMore(id, ledgers.get(id)!);
    });
  };
  /** A command whose outcome nobody may know: what became of it is read. */
  const attempt = async (id: AccountId, command: AccountCommand) => {
    await cloud.accounts.ask(id, command).catch(() => undefined);
    await mend();
    await ledgers.get(id)!.read(id);
  };
  /** What each node does by the clock, until it is done without a death. */
  const rounds = async () => {
    for (let tries = 0; tries < ROUNDS_MAX; tries += 1) {
      const run = { signal: new AbortController().signal };
      const done = await Promise.allSettled(
        cloud.nodes.map(async ({ stores }) => {
          await settleBands({ stores, accounts: cloud.accounts }, nowMs, run);
          await closePeriods({ stores, accounts: cloud.accounts }, nowMs, run);
        }),
      );
      await mend();
      for (const id of ids) await ledgers.get(id)!.read(id);
      if (done.every(({ status }) => status === 'fulfilled')) return;
    }
    throw new Error('rounds that no death disturbs end');
  };
  for (nowMs = Date.UTC(YEAR, 0, 1); nowMs < Date.UTC(YEAR + 1, 0, 1); nowMs += DAY_MS + upTo(2 * DAY_MS)) {
    const dying = cloud.nodes[upTo(2)]!;
    if (random() < 0.4) dying.dieAfter(1 + upTo(40));
    for (const id of ids) {
      const what = random();
      const band = BANDS[upTo(BANDS.length)]!;
      if (what < 0.1) await attempt(id, { type: 'buy_plan', tier: 'premium', band });
      else if (what < 0.14) await attempt(id, { type: 'buy_plan', band });
      else if (what < 0.16) await attempt(id, { type: 'buy_plan', tier: 'free' });
    }
    await rounds();
  }
  nowMs = Date.UTC(YEAR + 1, 0, 1);
  await rounds();
  const { stores } = new Node('reader');
  const numbers: string[] = [];
  for (const id of ids) {
    const { history } = ledgers.get(id)!,
      made = new Map((await stores.billing.statements(id)).map((row) => [row.period, row]));
    for (let month = 0; month < 12; month += 1) {
      const period = new Date(Date.UTC(YEAR, month, 1)).toISOString().slice(0, 7),
        { startMs, endMs } = boundsOf(period);
      const bill = billOf(history, startMs, endMs),
        row = made.get(period);
      t.is(row?.totalCents, bill === null ? undefined : String(bill.cents), `${id} ${period}`);
      if (row !== undefined) numbers.push(row.number);
    }
    t.is(made.size, [...made.keys()].filter((period) => period.startsWith(String(YEAR))).length);
  }
  const ofYear = (year: number) => numbers.filter((number) => number.startsWith(`FLK-${year}-`)).sort();
  for (const year of [YEAR, YEAR + 1])
    t.deepEqual(
      ofYear(year),
      ofYear(year).map((_, n) => `FLK-${year}-${String(n + 1).padStart(6, '0')}`),
    );
  const letters = await database.admin<{ times: number }[]>`
    select count(*)::int as times from flock.mail where event_id like 'stm_%' group by event_id, user_id`;
  t.true(letters.length > 0 && letters.every(({ times }) => times === 1));
  t.log(`${numbers.length} statements, ${letters.length} letters, ${deaths} deaths of a node`);
  t.true(deaths > 10 && numbers.length > ACCOUNTS);
});
