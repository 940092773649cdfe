/**
 * Where a ledger begins. A payment to an issued address must lie above it, so it is durable before the first address is
 * issued: until a node has named a height, addresses of the chain are refused (`chain-access.ts`). A chain whose
 * addresses are its own begins at its first head: nobody can have paid it before, and its nodes may hold no older
 * block. An address of another EVM network may be paid on this one all the same, so an EVM ledger begins at the block
 * of the instant since which this installation runs the chain, however late its first head comes. A height that the
 * chain has not reached would lose all that is paid below it: where two endpoints answer, both must be near it.
 *
 *   EVM, run since 10:00, first head at 10:00 or 14:00 → begins at the last block before 10:00, less a margin
 *   any other, first head at 14:00                     → begins at that head
 *   endpoints at 100 and 1,000,000                     → not yet, with a reason; a third one at 101 → begins at 101
 *   a height is configured                             → begins there, known without any node
 */
import { ChainUnavailable, type ChainClient, type Network } from '../../chains/chain.ts';
import { accountOfLedger } from '../../protocol/ids.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import type { WatcherParts } from '../ports.ts';
import { lagBlocksOf, orNull, UNHEARD_MS } from './quorum.ts';

/** A block's timestamp may be off: nodes accept some drift, and Bitcoin two hours (12 blocks). */
const DRIFT_MS_MIN = 60_000;
const DRIFT_BLOCKS = 12;
const WITNESSES_NEEDED = 2;

type Parts = Pick<WatcherParts, 'store' | 'ledger' | 'network' | 'client' | 'settings' | 'witnesses'>;

/** Height at which a ledger without a cursor begins, durable from here on. Throws: ChainUnavailable. */
export async function startOf(parts: Parts, reported: number, waitMs = UNHEARD_MS): Promise<number> {
  const { store, ledger, network, client, settings } = parts;
  if (accountOfLedger(ledger) !== null) return settings.start === 'head' ? reported : settings.start;
  if (settings.start !== 'head') return store.noteChainStart(ledger, settings.start);
  const known = await store.chainStart(ledger);
  if (known !== null && known.height !== null) return known.height;
  const headHeight = parts.witnesses.length === 0 ? reported : await firstHead(parts, waitMs);
  const driftMs = Math.max(DRIFT_MS_MIN, DRIFT_BLOCKS * network.blockTimeMs);
  const height =
    known === null || FAMILY_OF[network.slug] !== 'evm'
      ? headHeight
      : await heightBefore(
          parts.witnesses.length === 0 ? [client] : parts.witnesses,
          network,
          headHeight,
          known.sinceMs - driftMs,
        );
  return store.noteChainStart(ledger, height);
}

/**
 * The height that two endpoints support, or the only one that answers; one that hangs is waited for as one that was
 * never heard. Throws: ChainUnavailable.
 */
async function firstHead({ witnesses, network }: Parts, waitMs: number): Promise<number> {
  const reported: number[] = [];
  const reads = Promise.all(
    witnesses.map(async (one) => {
      reported.push(...(await orNull(one.getHead()).then((head) => (head === null ? [] : [head.height]))));
    }),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, waitMs, 'late');
  });
  if ((await Promise.race([reads, late]).finally(() => clearTimeout(timer))) === 'late') {
    if (reported.length === 0) await reads;
    else reads.catch(() => undefined); // what comes now is too late
  }
  const [highest, second] = reported.toSorted((a, b) => b - a);
  if (highest === undefined) throw new ChainUnavailable(network.slug, 'no endpoint reports its head');
  if (second === undefined) return highest;
  if (reported.length > 2 || highest - second <= lagBlocksOf(network)) return second;
  throw new ChainUnavailable(
    network.slug,
    `endpoints name the heads ${second} and ${highest}: the chain begins when two agree, or one is removed from the configuration`,
  );
}

/** What two say, or null. */
function agreedOf(said: readonly boolean[]): boolean | null {
  return [true, false].find((word) => said.filter((one) => one === word).length >= WITNESSES_NEEDED) ?? null;
}

/**
 * The highest height up to a head whose block is at or before an instant, 0 if none is: steps back from the head that
 * double, then halving, O(log n) blocks. Of several endpoints two must say the same of a block's age, or the only one
 * that answers. A block without a time counts as too young. Throws: ChainUnavailable.
 */
export async function heightBefore(
  clients: readonly Pick<ChainClient, 'nextHeight' | 'getBlock'>[],
  network: Pick<Network, 'slug' | 'blockTimeMs'>,
  headHeight: number,
  atMs: number,
): Promise<number> {
  const isCalledOld = async (client: (typeof clients)[number], height: number): Promise<boolean | null> => {
    const next = await client.nextHeight(height - 1);
    if (next === null) return null;
    const { timeMs } = await client.getBlock(next);
    return timeMs !== null && timeMs <= atMs;
  };
  let asked = [...clients]; // those that answered come first
  const isBefore = async (height: number): Promise<boolean> => {
    const silent: typeof asked = [],
      said: boolean[] = [];
    for (const client of asked) {
      if (agreedOf(said) !== null) break;
      const word = await orNull(isCalledOld(client, height));
      if (word === null) silent.push(client);
      else said.push(word);
    }
    asked = [...asked.filter((one) => !silent.includes(one)), ...silent];
    if (said.length === 0) throw new ChainUnavailable(network.slug, `no block at ${height} below its head`);
    const word = said.length === 1 ? said[0]! : agreedOf(said);
    if (word !== null) return word;
    throw new ChainUnavailable(
      network.slug,
      `endpoints name different times of the block at ${height}: the chain begins when two agree, or one is removed from the configuration`,
    );
  };
  let after = headHeight,
    step = Math.max(1, Math.ceil(60_000 / network.blockTimeMs));
  let before = Math.max(0, headHeight - step);
  while (before > 0 && !(await isBefore(before))) {
    after = before;
    step *= 2;
    before = Math.max(0, headHeight - step);
  }
  while (after - before > 1) {
    const middle = Math.floor((after + before) / 2);
    if (await isBefore(middle)) before = middle;
    else after = middle;
  }
  return before;
}
