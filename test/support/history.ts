/**
 * A seeded random history of one chain under a watcher that is killed, misled and starved, and the checks that must
 * hold whatever happened (reliability 4.1 rows 12–17).
 */
import type { ChainClient, Network } from '../../chains/chain.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import type { InboxRow } from '../../model/rows/inbox.ts';
import { modelJudge, type Judge } from './judge.ts';
import { SimulatedChain, simulatedNetwork, type SimulatedClient, type SimulatedPayment } from './simulated-chain.ts';
import { seeded } from './seeded.ts';
import { watching, type Watching } from './watching.ts';

export interface HistoryOptions {
  readonly seed: number;
  readonly steps: number;
  /** Who decides what the facts mean; the model unless it is named. */
  readonly judge?: () => Judge;
  /** Where facts are kept; in memory unless it is named. */
  readonly books?: HistoryBooks;
  /** Two endpoints, of which one at a time reports false amounts or hides payments, under the true hash. */
  readonly liar?: boolean;
  /** A block far below every reorg stays unreadable to the end. */
  readonly unreadable?: boolean;
  /** Bugs planted to prove the checks: each stands between the watcher and what it works with. */
  readonly plant?: {
    store?: (store: WatchStore) => WatchStore;
    client?: (client: ChainClient) => ChainClient;
    network?: Network;
    /** The watcher believes the endpoint that it asks. */
    believesOne?: boolean;
    /** The account takes its inbox without marking it taken. */
    takesTwice?: boolean;
  };
}

/** The watcher's store, and the inbox of the one account. */
export interface HistoryBooks {
  readonly store: WatchStore;
  inbox(): Promise<readonly InboxRow[]>;
  takeInbox(ids: readonly string[]): Promise<void>;
  /** What somebody else does now and then who may write as the watcher does. */
  intrude?(random: () => number): Promise<void>;
}

class Killed extends Error {}

interface World {
  readonly random: () => number;
  readonly chain: SimulatedChain;
  readonly clients: readonly SimulatedClient[];
  readonly self: Watching;
  readonly account: Judge;
  readonly books: HistoryBooks;
  readonly wrong: string[];
  /** What each payment is, by its credit key. */
  readonly paid: Map<string, bigint>;
  /** Payments that a reorg threw out, which may be mined again. */
  readonly loose: SimulatedPayment[];
  payments: number;
  killNext: boolean;
}

/** Enough for a watcher that was kept from reading all along. */
const HEALING_ROUNDS = 30;
/** No reorg of a history reaches below so many blocks. */
const DEEP_BLOCKS = 24;
const UNREADABLE_HEIGHT = 1;

/** Runs a history to its end, heals everything, and answers what is wrong; an empty list is a pass. */
export async function runHistory(options: HistoryOptions): Promise<string[]> {
  const wrong: string[] = [];
  const world = begin(options, wrong);
  try {
    for (let step = 0; step < options.steps; step += 1) {
      act(world, options);
      await turn(world, options);
      if (options.books?.intrude !== undefined) await options.books.intrude(world.random);
    }
    await heal(world, options);
  } catch (error) {
    return [...wrong, error instanceof Error ? error.message : String(error)];
  }
  return [...wrong, ...(await verdicts(world))];
}

function begin(options: HistoryOptions, wrong: string[]): World {
  const random = seeded(options.seed);
  const chain = new SimulatedChain();
  const clients = Array.from({ length: options.liar === true ? 2 : 3 }, () => chain.client(random));
  for (const client of clients) client.failRate = 0.03;
  if (options.unreadable === true) {
    for (const client of clients) client.contentMissing.add(UNREADABLE_HEIGHT);
    chain.mineEmpty(DEEP_BLOCKS);
  }
  const plantClient = options.plant?.client ?? ((client: ChainClient) => client);
  const world = {
    random,
    chain,
    clients,
    account: (options.judge ?? modelJudge)(),
    wrong,
    paid: new Map(),
    loose: [],
    payments: 0,
    killNext: false,
  } as unknown as { -readonly [K in keyof World]: World[K] };
  const self = watching({
    client: plantClient(clients[0]!),
    witnesses: options.plant?.believesOne === true ? [] : clients.map(plantClient),
    network: options.plant?.network ?? simulatedNetwork,
    settings: { blocksPerTick: 8, secondReadMs: 1_000, start: 0 },
    wrap: (store) =>
      checked(
        killable(options.plant?.store?.(options.books?.store ?? store) ?? options.books?.store ?? store, world),
        chain,
        wrong,
      ),
  });
  for (const address of world.account.addresses) self.store.addAddress(address, 'live', self.nowMs);
  world.books = options.books ?? {
    store: self.store,
    inbox: async () => self.store.inbox(world.account.accountId),
    takeInbox: async (ids) => self.store.takeInbox([...ids]),
  };
  world.self = self;
  return world;
}

/** Kills the process after a statement committed and before anyone was told. */
function killable(store: WatchStore, world: { killNext: boolean }): WatchStore {
  const after =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const result = await write(...args);
      if (world.killNext) {
        world.killNext = false;
        throw new Killed('killed after a commit');
      }
      return result;
    };
  return {
    ...store,
    recordBlock: after(store.recordBlock),
    recordReorg: after(store.recordReorg),
    resolveHeight: after(store.resolveHeight),
    mature: after(store.mature),
  };
}

/** G18, G19: at the moment of maturing the block is on the chain and deep enough. */
function checked(store: WatchStore, chain: SimulatedChain, wrong: string[]): WatchStore {
  return {
    ...store,
    mature: async (ledger, facts) => {
      const known = await store.immature(ledger, Number.MAX_SAFE_INTEGER, 10_000);
      for (const { txid, blockHash } of facts) {
        const fact = known.find((one) => one.txid === txid);
        const block = fact === undefined ? null : chain.blockAt(fact.height);
        if (block?.hash !== blockHash) wrong.push(`${txid} matured in a block that is not on the chain`);
        else if (chain.tip.height - block.height + 1 < simulatedNetwork.threshold)
          wrong.push(`${txid} matured too early`);
      }
      return store.mature(ledger, facts);
    },
  };
}

function act(world: World, { liar = false }: HistoryOptions): void {
  const { random, chain, clients, paid } = world;
  const pick = (below: number) => Math.floor(random() * below);
  const fresh = (count: number): SimulatedPayment[] =>
    Array.from({ length: count }, () => {
      world.payments += 1;
      const payment = {
        txid: `tx${world.payments}`,
        outputIndex: pick(3),
        to: random() < 0.85 ? world.account.addresses[pick(world.account.addresses.length)]!.address : '@stranger',
        amount: BigInt(1 + pick(1_000)),
      };
      paid.set(keyOf(payment), payment.amount);
      return payment;
    });
  if (liar && random() < 0.3) lie(clients, pick, random() < 0.5);
  const again = (): SimulatedPayment[] =>
    world.loose.length > 0 && random() < 0.6 ? world.loose.splice(pick(world.loose.length), 1) : [];
  const dice = random();
  if (dice < 0.55) chain.mine([...fresh(pick(3)), ...again()]);
  else if (dice < 0.72) {
    const depth = Math.min(1 + pick(simulatedNetwork.threshold + 5), chain.tip.height);
    const removed = chain.rollback(depth);
    world.loose.push(...removed.flatMap((block) => block.raw.payments));
    // Now and then the branch is shorter for a while: a head below our cursor.
    for (let index = 0; index < depth + (random() < 0.15 ? -1 : 1); index += 1)
      chain.mine([...again(), ...fresh(pick(2))]);
  } else if (dice < 0.8) clients[1 + pick(clients.length - 1)]!.lag = pick(6);
  else if (dice < 0.84) clients[0]!.lag = pick(4);
  else if (dice < 0.88) clients[0]!.contentMissing.add(Math.max(1, chain.tip.height - pick(4)));
  else if (dice < 0.91)
    for (const height of [...clients[0]!.contentMissing].filter((one) => one !== UNREADABLE_HEIGHT))
      clients[0]!.contentMissing.delete(height);
  // Beside a liar nobody is away for long: an endpoint that is alive alone is believed.
  else if (dice < 0.94) clients[0]!.down = !liar && !clients[0]!.down;
  else if (dice < 0.96 && !liar) {
    // One endpoint at a time freezes: two of three that agree on a lie are believed.
    for (const client of clients) client.frozenAt = null;
    if (random() < 0.5) clients[pick(clients.length)]!.frozenAt = chain.tip;
  } else if (dice < 0.98) clients[0]!.duplicates = !clients[0]!.duplicates;
  else world.killNext = true;
}

const keyOf = ({ txid, outputIndex }: { txid: string; outputIndex: number }): string => `${txid}:${outputIndex}`;

/** One endpoint, and it alone, tells payments otherwise or to somebody else; or all are honest again. */
function lie(clients: readonly SimulatedClient[], pick: (below: number) => number, isHidden: boolean): void {
  for (const client of clients) client.alters = null;
  const one = clients[pick(clients.length + 1)];
  if (one !== undefined)
    one.alters = (payment) =>
      isHidden ? { ...payment, to: '@stranger' } : { ...payment, amount: payment.amount * 10n };
}

/** Some ticks; a kill loses all memory, and every wake of a dead process is lost too. */
async function turn(world: World, options: HistoryOptions): Promise<void> {
  const { self, random } = world;
  for (let ticks = Math.floor(random() * 3); ticks > 0; ticks -= 1) {
    self.nowMs += 700;
    try {
      await self.watcher.tick();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      self.restart();
    }
  }
  if (random() < 0.03) self.restart();
  if (random() < 0.5) await take(world, options);
}

async function take({ account, books, chain, paid, wrong }: World, options: HistoryOptions): Promise<void> {
  const rows = await books.inbox();
  for (const { fact } of rows) {
    if (!('deposit' in fact)) continue;
    const { deposit } = fact,
      key = keyOf(deposit);
    if (BigInt(deposit.amount) !== paid.get(key))
      wrong.push(`${key} is told as ${deposit.amount} and paid ${paid.get(key)}`);
    if (fact.kind === 'matured' && deposit.confirmations < simulatedNetwork.threshold)
      wrong.push(`${key} matured too early, at ${deposit.confirmations}`);
    // No block comes back to the chain once it left it.
    if (fact.kind === 'orphaned' && chain.blockAt(deposit.height)?.hash === deposit.blockHash)
      wrong.push(`${key} is told as gone, and its block is on the chain`);
  }
  account.take(rows);
  if (options.plant?.takesTwice !== true) await books.takeInbox(rows.map(({ id }) => id));
}

/** Liveness: faults stop, the chain goes on, and everything must come to rest. */
async function heal(world: World, options: HistoryOptions): Promise<void> {
  const { chain, clients, self } = world;
  world.killNext = false;
  for (const client of clients) {
    Object.assign(client, { failRate: 0, lag: 0, down: false, duplicates: false, frozenAt: null, alters: null });
    client.contentMissing.clear();
    if (options.unreadable === true) client.contentMissing.add(UNREADABLE_HEIGHT);
  }
  chain.mineEmpty(simulatedNetwork.threshold + 10);
  for (let round = 0; round < HEALING_ROUNDS; round += 1) {
    self.nowMs += 61_000;
    const report = await self.watcher.tick();
    if (report.stopped !== null) throw new Error(`stopped: ${report.stopped}`);
  }
  await self.watcher.settled();
  await take(world, options);
}

/** Everything that must be true at the end. */
async function verdicts({ chain, account, books }: World): Promise<string[]> {
  const wrong: string[] = [];
  const truth = new Map<string, bigint>();
  for (const block of chain.canonical()) {
    for (const payment of block.raw.payments)
      if (account.addresses.some(({ address }) => address === payment.to)) truth.set(keyOf(payment), payment.amount);
  }
  const credited = account.credited();
  for (const [key, amount] of truth)
    if (credited.get(key) !== amount) wrong.push(`${key} is credited ${credited.get(key) ?? 0n} instead of ${amount}`);
  for (const [key, amount] of credited)
    if (!truth.has(key)) wrong.push(`${key} is credited ${amount} and not on the chain`);
  const seen = new Set<string>();
  for (const { event, key, incarnation } of account.events()) {
    const id = event === 'deposit_detected' ? `${event} ${key}` : `${event} ${key} ${incarnation}`;
    if (seen.has(id)) wrong.push(`${id} is told twice`);
    seen.add(id);
  }
  for (const key of account.deposits())
    if (!seen.has(`deposit_detected ${key}`)) wrong.push(`${key} was never told as detected`);
  const cursor = await books.store.cursor('eth');
  if (cursor?.hash !== chain.tip.hash)
    wrong.push(`the cursor rests at ${cursor?.height}, the chain at ${chain.tip.height}`);
  return wrong;
}
