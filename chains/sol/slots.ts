/**
 * Which slot holds the next block. A node's list of produced slots is a hint: slots before the one that it names are
 * skipped because that block's parent link says so, never because of a short list or an error code (L19, L21).
 *
 *   cursor 100, list 103 105, parent of 103 is 100 → 103: 101 and 102 are proven empty
 *   cursor 100, list 105 (103 left out), parent of 105 is 103, parent of 103 is 100 → 103
 *   cursor 100, list 103, parent of 103 is 98 → 103: the cursor is on another branch, which the caller sees by the link
 */
import { ChainUnavailable, type Endpoint, type Network, type Transport } from '../chain.ts';
import { countIn, listIn } from '../node-answer.ts';
import type { BlockReader } from './block-reader.ts';
import type { Heads } from './heads.ts';
import { call, CONFIRMED, resultOf, tryAsk } from './node.ts';
import { explainNodeError } from './rejection.ts';

/** Slots of one question; the smallest limits of providers are known (chains.md 7.2: 1,005 paid, 5 free). */
const SPAN_SLOTS = 512;
const SPAN_SLOTS_LEAST = 5;
/** Slots that are looked through for one answer; the longest halts of the network skipped fewer. */
const LOOK_SLOTS_MAX = 500_000;

/** Slots with a block in (after, upTo], as an endpoint listed them. */
interface Listed {
  readonly after: number;
  readonly upTo: number;
  readonly slots: readonly number[];
}

const NOTHING: Listed = { after: 0, upTo: 0, slots: [] };

export function createNextSlot(
  network: Network,
  transport: Transport,
  heads: Heads,
  blocks: Pick<BlockReader, 'getHeader'>,
): (slot: number) => Promise<number | null> {
  let listed = NOTHING;
  let listedInTurn = -1;
  const spans = new Map<Endpoint, number>();

  const readList = async (endpoint: Endpoint, after: number, head: number): Promise<Listed> => {
    const span = spans.get(endpoint) ?? SPAN_SLOTS;
    const upTo = Math.min(after + span, head);
    const asked = call('getBlocks', after + 1, upTo, CONFIRMED);
    const answer = await tryAsk(network, endpoint, asked);
    if (!answer.ok && span > SPAN_SLOTS_LEAST && explainNodeError(answer.error) === 'unavailable') {
      // The plan of this provider allows no more, or it is down: the next error says so.
      spans.set(endpoint, SPAN_SLOTS_LEAST);
      return readList(endpoint, after, head);
    }
    const slots = listIn(resultOf({ network, transport, endpoint }, asked, answer), 'slots')
      .map((slot) => countIn(slot, 'slot'))
      .filter((slot) => slot > after && slot <= upTo);
    return { after, upTo, slots: slots.toSorted((a, b) => a - b) };
  };

  /**
   * What was listed holds until the next look at the head: a slot that a fork left, or a lie, must not be asked for
   * ever.
   */
  const stillListed = (): Listed => {
    if (listedInTurn !== heads.turn()) listed = NOTHING;
    listedInTurn = heads.turn();
    return listed;
  };

  const listAfter = async (slot: number, head: number): Promise<Listed> => {
    const known = stillListed();
    if (known.after <= slot && slot < known.upTo) return known;
    listed = await transport.attempt((endpoint) => readList(endpoint, slot, head));
    return listed;
  };

  /**
   * The first slot above `slot` that a list names. Throws: ChainUnavailable when lists end below a head that was seen.
   */
  const namedAfter = async (slot: number, head: number): Promise<number> => {
    for (let after = slot; after < head && after - slot < LOOK_SLOTS_MAX;) {
      const { upTo, slots } = await listAfter(after, head);
      const named = slots.find((one) => one > slot);
      if (named !== undefined) return named;
      after = upTo;
    }
    listed = NOTHING; // The next question may go to a node that has the blocks.
    throw new ChainUnavailable(network.slug, `no block listed after slot ${slot}, with a head at ${head}`);
  };

  /** The first block above `slot` on the branch of a named one, by parent links. */
  const provenAfter = async (slot: number, named: number): Promise<number> => {
    let first = named;
    while (first > slot + 1) {
      const header = await blocks.getHeader(first);
      if (header === null) throw new ChainUnavailable(network.slug, `slot ${first} is listed and has no block`);
      if (header.parentSlot <= slot) return first;
      first = header.parentSlot;
    }
    return first;
  };

  return async (slot) => {
    const head = slot < heads.seen() ? heads.seen() : (await heads.getHead()).height;
    return head <= slot ? null : provenAfter(slot, await namedAfter(slot, head));
  };
}
