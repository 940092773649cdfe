/**
 * A block as two endpoints report it. A hash is compared and an amount is not: endpoints that hold the same block may
 * still report other movements in it, or leave one out. Where two endpoints are alive a block is proven when both
 * report the same movements to watched addresses, by value (transaction, payee, amount, token, tag), not by key; before
 * that nothing of it is announced. F21, F73.
 *
 *   A and B alive     A: 5 to @a · B: 5 to @a              → proven, at two block reads
 *                     A: 5 to @a · B: 50 to @a, or nothing → not proven: a third is asked; without one the height stays
 * unresolved
 *                    A: 5 to @a · B has not reached it    → waits for B
 *   A alive alone    A: 5 to @a                           → proven by A (quorum.ts says who counts as alive)
 *   C cannot know    payments from inside contracts where its node does not trace: nobody waits for its word on those
 *   C cannot prove   this one height for 10 minutes, and others well: nobody waits for its word on this height any more
 */
import { ChainUnavailable, type Block, type ChainClient } from '../../chains/chain.ts';
import { chainFailure } from '../../chains/failure.ts';
import { decodedOf, noteDisputed, watchedOf } from './content.ts';
import type { KeyedTransfer } from './match.ts';
import type { Run } from '../memory.ts';
import { conditionOf, livingOf, orNull, SILENT_MS, type LivingEndpoint } from './quorum.ts';

/** An endpoint that serves other blocks but has failed on this one for so long does not count for it. */
export const CANNOT_TELL_MS = 600_000;
/** Heights of which it is remembered who failed on them. */
const FAILED_HEIGHTS_MAX = 10_000;
/** Hashes of agreed blocks that are remembered, so that they are not compared again when they mature. */
const AGREED_MAX = 20_000;
/** How long an answer on whether an endpoint traces is trusted. */
const TRACES_MS = 60_000;
const TXIDS_LOGGED_MAX = 20;

/** Nothing is wrong: an endpoint that is alive has not reached the height yet. */
export class WaitsForSecond extends ChainUnavailable {}

/** All that could be asked answered, and no two of them say the same about a block. */
export class Contradicted extends ChainUnavailable {}

interface Reading {
  readonly by: LivingEndpoint;
  readonly block: Block;
  /** Whether it reports payments from inside contracts. */
  readonly inside: boolean;
}

/** The client by which blocks are read: every one proven by two endpoints where two are alive. */
export function agreeing(run: Run): Pick<ChainClient, 'nextHeight' | 'getBlock'> {
  return { nextHeight: (height) => run.parts.client.nextHeight(height), getBlock: (height) => readAgreed(run, height) };
}

/**
 * A block, proven by two endpoints where two are alive. Throws: ChainUnavailable, WaitsForSecond, Contradicted,
 * MalformedReply.
 */
export async function readAgreed(run: Run, height: number): Promise<Block> {
  const { parts } = run,
    chain = parts.network.slug;
  if (parts.witnesses.length === 0) return parts.client.getBlock(height);
  const living = await servingOf(run, height);
  if (living.length === 0)
    throw new ChainUnavailable(chain, `no endpoint that serves blocks is alive, to read block ${height}`);
  if (living.length === 1) return wholeOf(run, await readBy(run, living[0]!, height));
  const able = living.filter(({ headHeight }) => headHeight >= height);
  if (able.length < 2) throw new WaitsForSecond(chain, `block ${height} waits for a second endpoint`);
  // Each height starts with another endpoint: the load is spread.
  const turns = able.map((_, index) => able[(height + index) % able.length]!);
  const readings: Reading[] = [],
    failures: string[] = [];
  for (let next = 0; next < turns.length;) {
    const asked = next === 0 ? turns.slice(0, 2) : [turns[next]!];
    next += asked.length;
    for (const result of await Promise.allSettled(asked.map((one) => readBy(run, one, height)))) {
      if (result.status === 'fulfilled') readings.push(result.value);
      else failures.push(chainFailure(result.reason) ?? raise(result.reason));
    }
    const agreed = await agreedOf(run, readings);
    if (agreed !== null) return wholeOf(run, agreed);
  }
  if (readings.length < 2)
    throw new ChainUnavailable(chain, `block ${height} is not proven by a second endpoint: ${failures.join('; ')}`);
  const contradicting = positionsOf(readings).join(' and ');
  throw new Contradicted(chain, `endpoints ${contradicting} contradict each other about block ${height}`);
}

const positionsOf = (readings: readonly Reading[]): number[] =>
  readings.map(({ by }) => by.position).sort((a, b) => a - b);

function raise(fault: unknown): never {
  throw fault;
}

/** Living endpoints that serve blocks and count for this height. */
export async function servingOf(run: Run, height: number): Promise<LivingEndpoint[]> {
  const { parts, memory } = run,
    nowMs = parts.elapsedMs();
  const living = await livingOf(run);
  const serving = await Promise.all(
    living.map(async ({ client }) => (await orNull(client.servesBlocks?.() ?? Promise.resolve(true))) ?? true),
  );
  return living.filter(({ position }, index) => {
    if (!serving[index]) return false;
    if (conditionOf(memory.witnesses[position - 1]!, nowMs, parts.network) === 'unreadable') {
      probe(run, living[index]!, height);
      return false;
    }
    const failedAtMs = memory.failedHeights.get(`${position}:${height}`);
    return failedAtMs === undefined || nowMs - failedAtMs < CANNOT_TELL_MS;
  });
}

/** One that proved no block for long is tried beside the others now and then, without anybody waiting for it. */
function probe(run: Run, one: LivingEndpoint, height: number): void {
  const { memory, parts } = run,
    probedAtMs = memory.probedAtMs.get(one.position) ?? Number.NEGATIVE_INFINITY;
  if (one.headHeight < height || parts.elapsedMs() - probedAtMs < SILENT_MS) return;
  memory.probedAtMs.set(one.position, parts.elapsedMs());
  readBy(run, one, height).catch(() => undefined);
}

/**
 * A block by one endpoint alone; that it could, or could not, is remembered. Throws: ChainUnavailable, MalformedReply.
 */
export async function readBy(run: Run, by: LivingEndpoint, height: number): Promise<Reading> {
  const { parts, memory } = run,
    index = by.position - 1,
    key = `${by.position}:${height}`;
  const note = (unreadableSinceMs: number | null) => {
    memory.witnesses = memory.witnesses.map((one, at) => (at === index ? { ...one, unreadableSinceMs } : one));
  };
  try {
    const block = await by.client.getBlock(height);
    decodedOf(parts, block);
    memory.failedHeights.delete(key);
    note(null);
    return { by, block, inside: await seesInside(run, by.position, by.client) };
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    const isKnown = memory.failedHeights.has(key);
    if (memory.failedHeights.size < FAILED_HEIGHTS_MAX && !isKnown) memory.failedHeights.set(key, parts.elapsedMs());
    // A second failure on the same height says nothing about other heights.
    note(memory.witnesses[index]!.unreadableSinceMs ?? (isKnown ? null : parts.elapsedMs()));
    throw error;
  }
}

/** Whether an endpoint, or the client over all of them (0), reports payments from inside contracts. */
async function seesInside({ parts, memory }: Run, position: number, client: ChainClient): Promise<boolean> {
  if (client.seesInternal === undefined) return true;
  const known = memory.seesInside.get(position);
  if (known !== undefined && parts.elapsedMs() - known.atMs < TRACES_MS) return known.sees;
  const sees = await orNull(client.seesInternal());
  if (sees !== null) memory.seesInside.set(position, { sees, atMs: parts.elapsedMs() });
  return sees ?? known?.sees ?? false;
}

/**
 * The reading that another one agrees with, the one that sees inside contracts where one does; null without two alike.
 */
async function agreedOf(run: Run, readings: readonly Reading[]): Promise<Reading | null> {
  const { parts, memory } = run;
  const against = new Map<number, readonly string[]>();
  const newest = readings.at(-1);
  for (let first = 0; first < readings.length; first += 1) {
    for (let second = first + 1; second < readings.length; second += 1) {
      const [a, b] = [readings[first]!, readings[second]!];
      const { txids, unwatched } = await compare(run, a, b);
      if (txids === null) {
        const agreed = b.inside && !a.inside ? b : a;
        noteDisputed(agreed.block, unwatched);
        memory.agreed.add(agreed.block.hash);
        if (memory.agreed.size > AGREED_MAX) memory.agreed.delete(memory.agreed.values().next().value!);
        const outvoted = readings.filter((one) => one !== a && one !== b);
        if (outvoted.length > 0) report(run, agreed.block, outvoted, [...against.values()].flat());
        else memory.contradictions.delete(agreed.block.height);
        return agreed;
      }
      if (txids.length > 0) against.set(b.by.position, txids);
    }
  }
  if (newest !== undefined && against.size > 0) report(run, newest.block, readings, [...against.values()].flat());
  if (newest !== undefined && readings.length >= 2) {
    if (memory.doubtedHash !== newest.block.hash) parts.doubtNetwork?.();
    memory.doubtedHash = newest.block.hash;
    parts.metrics.add('svc_blocks_contradicted_total', { chain: parts.network.slug });
  }
  return null;
}

/** Logs once for each height which endpoints to check; where one was outvoted, which one. */
function report(
  { parts, memory }: Run,
  { height, hash }: Block,
  readings: readonly Reading[],
  txids: readonly string[],
): void {
  const endpoints = positionsOf(readings),
    said = `${hash} ${endpoints.join(',')}`;
  if (memory.contradictions.get(height) === said) return;
  memory.contradictions.set(height, said);
  if (memory.contradictions.size > FAILED_HEIGHTS_MAX)
    memory.contradictions.delete(memory.contradictions.keys().next().value!);
  parts.log.error(
    { ledger: parts.ledger, height, hash, endpoints, txids: [...new Set(txids)].slice(0, TXIDS_LOGGED_MAX) },
    'endpoints contradict each other about the movements of a block: check which one is wrong',
  );
}

interface Comparison {
  /** Transactions that the two report differently, empty where they hold another block; null when they agree. */
  readonly txids: readonly string[] | null;
  /** Movements to unwatched addresses that only one of them reports. */
  readonly unwatched: readonly KeyedTransfer[];
}

/** What a movement is, apart from the key that an endpoint's own count of frames may give it. */
const valueOf = ({ txid, addressKey, amount, tokenContract, tag, threshold }: KeyedTransfer): string =>
  `${txid} ${addressKey} ${amount} ${tokenContract ?? ''} ${tag ?? ''} ${threshold ?? ''}`;

async function compare(run: Run, a: Reading, b: Reading): Promise<Comparison> {
  const { parts } = run;
  if (a.block.hash !== b.block.hash || a.block.parentHash !== b.block.parentHash) return { txids: [], unwatched: [] };
  const [ours, theirs] = [a, b].map(({ block }) => decodedOf(parts, block).keyed.transfers) as [
    readonly KeyedTransfer[],
    readonly KeyedTransfer[],
  ];
  const knowable = [...missingFrom(ours, theirs, b.inside), ...missingFrom(theirs, ours, a.inside)];
  const watched =
    knowable.length === 0
      ? null
      : await watchedOf(
          parts,
          knowable.map(({ addressKey }) => addressKey),
        );
  const disputed = watched === null ? [] : knowable.filter(({ addressKey }) => watched.has(addressKey));
  const txids = [
    ...disputed.map(({ txid }) => txid),
    ...otherSenders(ours, theirs),
    ...otherOutcomes(run, a.block, b.block),
  ];
  return {
    txids: txids.length === 0 ? null : txids,
    unwatched: watched === null ? [] : knowable.filter((one) => !disputed.includes(one)),
  };
}

/**
 * A payment out of a contract's call, which a node that does not trace cannot know; −1 is the transaction's own value.
 */
export const isInside = ({
  outputIndex,
  tokenContract,
}: Pick<KeyedTransfer, 'outputIndex' | 'tokenContract'>): boolean => outputIndex < -1 && tokenContract === null;

/** Movements of one reading that the other one lacks although it could know them. */
function missingFrom(
  mine: readonly KeyedTransfer[],
  other: readonly KeyedTransfer[],
  otherSeesInside: boolean,
): KeyedTransfer[] {
  const counts = new Map<string, number>();
  for (const transfer of other) counts.set(valueOf(transfer), (counts.get(valueOf(transfer)) ?? 0) + 1);
  return mine.filter((transfer) => {
    const left = counts.get(valueOf(transfer)) ?? 0;
    counts.set(valueOf(transfer), left - 1);
    return left <= 0 && (otherSeesInside || !isInside(transfer));
  });
}

/**
 * Transactions whose senders differ where both report some: a false one would make a payment look like the account's
 * own. G20.
 */
function otherSenders(ours: readonly KeyedTransfer[], theirs: readonly KeyedTransfer[]): string[] {
  const senders = new Map<string, Set<string>>();
  for (const transfer of theirs) {
    const known = senders.get(valueOf(transfer)) ?? new Set();
    senders.set(valueOf(transfer), known.add([...transfer.from].sort().join(',')));
  }
  return ours
    .filter((transfer) => {
      const known = senders.get(valueOf(transfer));
      const own = [...transfer.from].sort().join(',');
      return known !== undefined && own !== '' && !known.has('') && !known.has(own);
    })
    .map(({ txid }) => txid);
}

/** Withdrawals that only one of the two reports to be in the block, or to have succeeded in it. */
function otherOutcomes({ parts, memory }: Run, a: Block, b: Block): string[] {
  const wanted = new Set(memory.open.flatMap(({ versions }) => versions.map(({ txid }) => txid)));
  if (wanted.size === 0) return [];
  const [ours, theirs] = [a, b].map(
    (block) =>
      new Map(parts.module.outcomesIn(parts.network, block, wanted).map(({ txid, success }) => [txid, success])),
  ) as [Map<string, boolean>, Map<string, boolean>];
  return [...new Set([...ours.keys(), ...theirs.keys()])].filter((txid) => ours.get(txid) !== theirs.get(txid));
}

/**
 * The block with what happens inside contracts. Where some endpoint traces, though none of those that proved the block,
 * the client over all endpoints must read it whole, and report the same otherwise: a payment that nobody looked for is
 * lost. C1-4.
 */
async function wholeOf(run: Run, reading: Reading): Promise<Block> {
  const { parts } = run;
  if (reading.inside || !(await seesInside(run, 0, parts.client))) return reading.block;
  const whole: Reading = { by: reading.by, block: await parts.client.getBlock(reading.block.height), inside: true };
  const { txids, unwatched } = await compare(run, whole, reading);
  if (txids !== null)
    throw new Contradicted(
      parts.network.slug,
      `the endpoint that traces reports block ${reading.block.height} differently`,
    );
  noteDisputed(whole.block, unwatched);
  return whole.block;
}
