/**
 * One seed, one story: work and faults for a number of steps, with the checks after every single event; then the faults
 * stop, and everything must come to rest: every event delivered and recorded, every outbox empty.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { evolve } from '../../actors/account/evolve.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import { wasOutrun, type Violation } from './checks.ts';
import { faultsOf, stopFaults } from './faults.ts';
import type { Plant } from './plants.ts';
import type { SqlPrepared } from './sql-database.ts';
import { Work } from './work.ts';
import { World, type Place } from './world.ts';

export interface StoryOptions {
  readonly seed: number;
  readonly steps: number;
  readonly plant?: Plant;
  /** The faults that the story knows, where the seed is not to draw them. */
  readonly faults?: readonly string[];
  /** Tells it over the real functions, in this database. */
  readonly sql?: SqlPrepared;
}

export interface Story {
  readonly seed: number;
  /** Null: a pass. */
  readonly violation: Violation | null;
  /** What happened last, for a story that failed. */
  readonly lines: readonly string[];
  /** The same for the same seed, bit by bit. */
  readonly digest: string;
  readonly events: number;
  readonly minutes: number;
  readonly counts: {
    readonly published: number;
    readonly attempts: number;
    readonly signatures: number;
    readonly epoch: number;
  };
}

const LINES_KEPT = 200;
/** Share of the faults that a seed knows: a story with all of them has no time for any. */
const FAULT_SHARE = 0.6;
const REST_ROUND_MS = 10_000;
/** Forty minutes: a lost claim takes two of them, what a replica signed may take as many as there are replicas. */
const REST_ROUNDS = 240;
/** A replica whose outbox waits although all is well must lead to empty it. */
const LEAD_AFTER_ROUNDS = 12;

/** Tells a story to its end. */
export async function runStory({ seed, steps, plant = {}, faults: known, sql }: StoryOptions): Promise<Story> {
  const world = new World(seed, plant, sql),
    work = new Work(world);
  const giveBack = world.machine.takeGlobals();
  try {
    await begin(world);
    const faults = known ?? Object.keys(faultsOf(world)).filter(() => world.machine.chance(FAULT_SHARE));
    for (let step = 0; step < steps && world.checks.violations.length === 0; step += 1) {
      world.machine.after(0, () => act(world, work, faults));
      await world.machine.advance(pause(world));
    }
    if (world.checks.violations.length === 0) await rest(world, work);
  } finally {
    giveBack();
    await world.sql?.close();
  }
  return storyOf(seed, world);
}

async function begin(world: World): Promise<void> {
  world.machine.after(0, () => world.startCloud());
  for (const [index, place] of world.places.entries()) world.machine.after(50 + index, () => world.startEdge(place));
  await world.machine.advance(2_000);
}

function act(world: World, work: Work, faults: readonly string[]): void {
  const { machine } = world,
    dice = machine.random();
  if (dice < 0.3) work.deposit();
  else if (dice < 0.42) work.withdraw();
  else if (dice < 0.46) work.askAgain();
  else if (dice < 0.51) work.land();
  else if (dice < 0.88 && faults.length > 0) faultsOf(world)[faults[machine.pick(faults.length)]!]!(world);
}

function pause({ machine }: World): number {
  const dice = machine.random();
  if (dice < 0.65) return machine.between(20, 1_500);
  return dice < 0.95 ? machine.between(1_500, 6_000) : machine.between(6_000, 40_000);
}

async function rest(world: World, work: Work): Promise<void> {
  world.machine.after(0, () => stopFaults(world));
  let left: string[] = [];
  for (let round = 1; round <= REST_ROUNDS; round += 1) {
    await world.machine.advance(REST_ROUND_MS);
    if (world.checks.violations.length > 0) return;
    world.machine.after(0, () => replayDead(world));
    left = unfinished(world);
    if (left.length === 0) break;
    if (round % LEAD_AFTER_ROUNDS === 0) letLead(world);
  }
  if (left.length > 0) world.checks.note('convergence', left.slice(0, 5).join('; '));
  for (const text of lost(world, work)) world.checks.note('no event lost', text);
}

/** A person replays what the ladder gave up, and what it gave up again. */
function replayDead(world: World): void {
  const { cloud, database } = world;
  if (cloud === null) return;
  const newest = new Map([...database.deliveries.rows.values()].map((row) => [`${row.eventId} ${row.webhookId}`, row]));
  const dead = [...newest.values()].filter(({ status }) => status === 'dead_lettered');
  cloud.process.run(() => {
    for (const { id } of dead) {
      void cloud.accounts.ask(database.seed.state.accountId, {
        type: 'replay_delivery',
        deliveryId: id,
        newDeliveryId: world.newId('dlv'),
        eventAtMs: Date.now(),
      });
    }
  });
}

/** What a replica signed and could not hand over leaves when it leads: the others step back for a while. */
function letLead(world: World): void {
  const waiting = world.places.find(
    ({ disk, edge }) => disk.outbox().length > 0 && edge !== null && !edge.lease.view().held,
  );
  if (waiting === undefined) return;
  world.tell(`${waiting.host.name} is to lead`);
  const others = world.places.filter((place) => place !== waiting);
  world.machine.after(0, () => others.forEach((place) => world.endEdge(place, 'to let another lead')));
  world.machine.after(60_000, () =>
    others.forEach((place) => {
      if (place.edge === null) world.startEdge(place);
    }),
  );
}

/** What is not done yet. */
function unfinished({ database, places }: World): string[] {
  const left: string[] = [];
  if (database.waitingFacts > 0) left.push(`${database.waitingFacts} facts wait`);
  const done = new Set<string>();
  for (const { eventId, webhookId, status } of database.deliveries.rows.values())
    if (status === 'delivered') done.add(`${eventId} ${webhookId}`);
  for (const { eventId, webhookId, seq, status, attempts } of database.deliveries.rows.values()) {
    if (!done.has(`${eventId} ${webhookId}`))
      left.push(`event ${seq} to ${webhookId} is ${status} after ${attempts} attempts`);
  }
  const waits = ({ disk, host }: Place) => {
    if (disk.outbox().length > 0) left.push(`the outbox of ${host.name} holds ${disk.outbox().length}`);
  };
  places.forEach(waits);
  const leading = places.filter(({ edge }) => edge?.lease.view().held === true).length;
  if (leading !== 1) left.push(`${leading} replicas lead`);
  return left;
}

/** What the account, its endpoints or the chain should know and do not. */
function lost(world: World, { model }: Work): string[] {
  const { database, receivers, checks } = world,
    wrong: string[] = [];
  const published = new Set<string>();
  for (const { body } of database.publications.values()) {
    const { event, data } = JSON.parse(body) as {
      event: string;
      data: { txid?: string; outputIndex?: number; incarnation?: number };
    };
    published.add(`${event} ${data.txid}:${data.outputIndex} ${data.incarnation}`);
  }
  for (const { event, key, incarnation } of model.events) {
    if (!published.has(`${event} ${key} ${incarnation}`))
      wrong.push(`${event} of ${key} (${incarnation}) was never published`);
  }
  for (const { eventId, event, seq } of database.publications.values()) {
    for (const { id, url } of database.seed.webhooks) {
      if (!receivers.taken.has(`${url} ${eventId}`)) wrong.push(`${event} ${seq} never reached ${id}`);
    }
  }
  for (const [transactionId] of checks.signatures) {
    const known = database.withdrawals.get(transactionId);
    if ((known?.versions.length ?? 0) === 0 && !wasOutrun(database.withdrawals, transactionId))
      wrong.push(`${transactionId} was signed and the cloud does not have it`);
  }
  const folded = database.events.reduce(evolve, database.seed.state);
  if (!isDeepStrictEqual(asStored(folded), asStored(database.state)))
    wrong.push('the events do not fold to the snapshot');
  return wrong;
}

/**
 * Of the counters only what they hold: the rest is read from the chain again. JSON says nothing about the order of
 * names.
 */
function asStored(state: AccountState): unknown {
  const counters = Object.fromEntries(Object.entries(state.counters).map(([key, { inFlight }]) => [key, inFlight]));
  return JSON.parse(JSON.stringify({ ...state, counters, reopened: state.reopened.toSorted() }));
}

function storyOf(seed: number, { checks, database, machine, told }: World): Story {
  const violation = checks.violations[0] ?? null;
  const counts = {
    published: database.publications.size,
    attempts: database.deliveries.attempts.size,
    signatures: checks.signatures.size,
    epoch: database.state.lease.epoch,
  };
  const whole = [
    ...told,
    violation?.text ?? 'rest',
    JSON.stringify(counts),
    String(machine.events),
    String(machine.nowMs),
    String(machine.random()),
  ];
  return {
    seed,
    violation,
    lines: told.slice(-LINES_KEPT),
    digest: createHash('sha256').update(whole.join('\n')).digest('hex'),
    events: machine.events,
    minutes: machine.nowMs / 60_000,
    counts,
  };
}
