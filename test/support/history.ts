/**
 * A seeded random history of one chain under a watcher that is killed, misled and starved, and the checks that must hold
 * whatever happened (reliability 4.1 rows 12–17).
 */
import type { ChainClient, Network } from '../../chains/chain.ts';
import type { WatchStore } from '../../persistence/ports.ts';
import { modelJudge, type Judge } from './judge.ts';
import { SimulatedChain, simulatedNetwork, type SimulatedClient, type SimulatedPayment } from './simulated-chain.ts';
import { seeded } from './seeded.ts';
import { watching, type Watching } from './watching.ts';

export interface HistoryOptions {
  readonly seed: number;
  readonly steps: number;
  /** Who decides what the facts mean; the model unless it is named. */
  readonly judge?: () => Judge;
  /** Bugs planted to prove the checks: each stands between the watcher and what it works with. */
  readonly plant?: {
    store?: (store: WatchStore) => WatchStore;
    client?: (client: ChainClient) => ChainClient;
    network?: Network;
    /** The account takes its inbox without marking it taken. */
    takesTwice?: boolean;
  };
}

class Killed extends Error {}

interface World {
  readonly random: () => number;
  readonly chain: SimulatedChain;
  readonly clients: readonly SimulatedClient[];
  readonly self: Watching;
  readonly account: Judge;
  /** Payments that a reorg threw out, which may be mined again. */
  readonly loose: SimulatedPayment[];
  payments: number;
  killNext: boolean;
}

/** Enough for a watcher that was kept from reading all along. */
const HEALING_ROUNDS = 30;

/** Runs a history to its end, heals everything, and answers what is wrong; an empty list is a pass. */
export async function runHistory(options: HistoryOptions): Promise<string[]> {
  const wrong: string[] = [];
  const world = begin(options, wrong);
  try {
    for (let step = 0; step < options.steps; step += 1) {
      act(world);
      await turn(world, options);
    }
    await heal(world, options);
  } catch (error) {
    return [...wrong, error instanceof Error ? error.message : String(error)];
  }
  return [...wrong, ...verdicts(world)];
}

function begin(options: HistoryOptions, wrong: string[]): World {
  const random = seeded(options.seed);
  const chain = new SimulatedChain();
  const clients = [chain.client(random), chain.client(random), chain.client(random)];
  for (const client of clients) client.failRate = 0.03;
  const plantClient = options.plant?.client ?? ((client: ChainClient) => client);
  const world = { random, chain, clients, account: (options.judge ?? modelJudge)(), loose: [], payments: 0, killNext: false } as unknown as { -readonly [K in keyof World]: World[K] };
  const self = watching({
    client: plantClient(clients[0]!), witnesses: clients.map(plantClient),
    network: options.plant?.network ?? simulatedNetwork, settings: { blocksPerTick: 8, secondReadMs: 1_000, start: 0 },
    wrap: (store) => checked(killable(options.plant?.store?.(store) ?? store, world), chain, wrong),
  });
  for (const address of world.account.addresses) self.store.addAddress(address, 'live', self.nowMs);
  world.self = self;
  return world;
}

/** Kills the process after a statement committed and before anyone was told. */
function killable(store: WatchStore, world: { killNext: boolean }): WatchStore {
  const after = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
    const result = await write(...args);
    if (world.killNext) {
      world.killNext = false;
      throw new Killed('killed after a commit');
    }
    return result;
  };
  return { ...store, recordBlock: after(store.recordBlock), recordReorg: after(store.recordReorg), resolveHeight: after(store.resolveHeight), mature: after(store.mature) };
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
        else if (chain.tip.height - block.height + 1 < simulatedNetwork.threshold) wrong.push(`${txid} matured too early`);
      }
      return store.mature(ledger, facts);
    },
  };
}

function act(world: World): void {
  const { random, chain, clients } = world;
  const pick = (below: number) => Math.floor(random() * below);
  const fresh = (count: number): SimulatedPayment[] => Array.from({ length: count }, () => {
    world.payments += 1;
    return { txid: `tx${world.payments}`, outputIndex: pick(3), to: random() < 0.85 ? world.account.addresses[pick(world.account.addresses.length)]!.address : '@stranger', amount: BigInt(1 + pick(1_000)) };
  });
  const again = (): SimulatedPayment[] => (world.loose.length > 0 && random() < 0.6 ? world.loose.splice(pick(world.loose.length), 1) : []);
  const dice = random();
  if (dice < 0.55) chain.mine([...fresh(pick(3)), ...again()]);
  else if (dice < 0.72) {
    const depth = Math.min(1 + pick(simulatedNetwork.threshold + 5), chain.tip.height);
    const removed = chain.rollback(depth);
    world.loose.push(...removed.flatMap((block) => block.raw.payments));
    // Now and then the branch is shorter for a while: a head below our cursor.
    for (let index = 0; index < depth + (random() < 0.15 ? -1 : 1); index += 1) chain.mine([...again(), ...fresh(pick(2))]);
  } else if (dice < 0.8) clients[1 + pick(2)]!.lag = pick(6);
  else if (dice < 0.84) clients[0]!.lag = pick(4);
  else if (dice < 0.88) clients[0]!.contentMissing.add(Math.max(1, chain.tip.height - pick(4)));
  else if (dice < 0.91) clients[0]!.contentMissing.clear();
  else if (dice < 0.94) clients[0]!.down = !clients[0]!.down;
  else if (dice < 0.96) { // One endpoint at a time freezes: two of three that agree on a lie are believed.
    for (const client of clients) client.frozenAt = null;
    if (random() < 0.5) clients[pick(3)]!.frozenAt = chain.tip;
  }
  else if (dice < 0.98) clients[0]!.duplicates = !clients[0]!.duplicates;
  else world.killNext = true;
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
  if (random() < 0.5) take(world, options);
}

function take(world: World, options: HistoryOptions): void {
  const rows = world.self.store.inbox(world.account.accountId);
  world.account.take(rows);
  if (options.plant?.takesTwice !== true) world.self.store.takeInbox(rows.map(({ id }) => id));
}

/** Liveness: faults stop, the chain goes on, and everything must come to rest. */
async function heal(world: World, options: HistoryOptions): Promise<void> {
  const { chain, clients, self } = world;
  world.killNext = false;
  for (const client of clients) Object.assign(client, { failRate: 0, lag: 0, down: false, duplicates: false, frozenAt: null });
  for (const client of clients) client.contentMissing.clear();
  chain.mineEmpty(simulatedNetwork.threshold + 10);
  for (let round = 0; round < HEALING_ROUNDS; round += 1) {
    self.nowMs += 61_000;
    const report = await self.watcher.tick();
    if (report.stopped !== null) throw new Error(`stopped: ${report.stopped}`);
  }
  await self.watcher.settled();
  take(world, options);
}

/** Everything that must be true at the end. */
function verdicts(world: World): string[] {
  const { chain, account, self } = world;
  const wrong: string[] = [];
  const truth = new Map<string, bigint>();
  for (const block of chain.canonical()) {
    for (const payment of block.raw.payments) if (account.addresses.some(({ address }) => address === payment.to)) truth.set(`${payment.txid}:${payment.outputIndex}`, payment.amount);
  }
  const credited = account.credited();
  for (const [key, amount] of truth) if (credited.get(key) !== amount) wrong.push(`${key} is credited ${credited.get(key) ?? 0n} instead of ${amount}`);
  for (const [key, amount] of credited) if (!truth.has(key)) wrong.push(`${key} is credited ${amount} and not on the chain`);
  const seen = new Set<string>();
  for (const { event, key, incarnation } of account.events()) {
    const id = event === 'deposit_detected' ? `${event} ${key}` : `${event} ${key} ${incarnation}`;
    if (seen.has(id)) wrong.push(`${id} is told twice`);
    seen.add(id);
  }
  for (const key of account.deposits()) if (!seen.has(`deposit_detected ${key}`)) wrong.push(`${key} was never told as detected`);
  const cursor = self.store.state.ledgers.get('eth')?.cursor;
  if (cursor?.hash !== chain.tip.hash) wrong.push(`the cursor rests at ${cursor?.height}, the chain at ${chain.tip.height}`);
  return wrong;
}
