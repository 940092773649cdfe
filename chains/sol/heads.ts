/**
 * The head of the chain, as the endpoints report it: the newest confirmed slot with its block hash, and the newest
 * finalized slot. The highest head that was ever answered is kept: an endpoint below it is behind and not believed
 * while another one is not (G10); a head that all endpoints show lower is a rollback and is answered as it is (C1-12).
 *
 * `getLatestBlockhash` names the slot of the confirmed block and that block's own hash in one answer; `getSlot` alone
 * has no hash, and slots are not heights: some of them hold no block.
 */
import type { Endpoint, Head, Network, Transport } from '../chain.ts';
import { HighestHead } from '../highest-head.ts';
import { countIn, objectIn, textIn } from '../node-answer.ts';
import { askAll, call, contextual, CONFIRMED, FINALIZED } from './node.ts';

/** Newest confirmed block of an endpoint, and how long a transaction that names its hash lives. */
export interface Latest {
  readonly slot: number;
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

export interface Heads {
  /** Highest confirmed slot that an endpoint has shown. */
  seen(): number;
  /** Highest finalized slot that an endpoint has shown, never above the highest head; it does not fall by itself. */
  finalized(): number;
  /** Rises with each `getHead`: what was read of blocks that are not final holds until then. */
  turn(): number;
  getHead(): Promise<Head>;
  /** Believes an endpoint's state at a slot. Throws: ChainUnavailable when it is behind what was seen. */
  accept(endpoint: Endpoint, slot: number): void;
}

export const LATEST = call('getLatestBlockhash', CONFIRMED);

/** Slots by which a second endpoint may trail the first and still be believed: three seconds. */
const TRAILING_SLOTS_MAX = 8;

/** An answer to `LATEST`. Throws: MalformedReply. */
export function latestOf(answer: unknown): Latest {
  const { slot, value } = contextual(answer, 'getLatestBlockhash');
  const { blockhash, lastValidBlockHeight } = objectIn(value, 'latest block hash');
  return {
    slot,
    blockhash: textIn(blockhash, 'block hash'),
    lastValidBlockHeight: countIn(lastValidBlockHeight, 'lastValidBlockHeight'),
  };
}

export function createHeads(network: Network, transport: Transport): Heads {
  const highest = new HighestHead<Head>(network.slug, transport, 'the node is at slot');
  let finalized = 0,
    turn = 0;
  const finalizedOf = new Map<Endpoint, number>();

  const accept: Heads['accept'] = (endpoint, slot) => highest.accept(endpoint, slot, TRAILING_SLOTS_MAX);

  const readHead = async (endpoint: Endpoint): Promise<Head> => {
    const [latest, final] = await askAll({ network, transport, endpoint }, [LATEST, call('getSlot', FINALIZED)]);
    const { slot, blockhash } = latestOf(latest);
    transport.report(endpoint, 'ok', slot);
    // What an endpoint once called final stays final; a load balancer may ask another node the next time. Its own head
    // refutes what is above it.
    const known = finalizedOf.get(endpoint) ?? 0;
    const stays = Math.max(known > slot ? 0 : known, countIn(final, 'finalized slot'));
    finalizedOf.set(endpoint, stays);
    return { height: slot, hash: blockhash, finalizedHeight: Math.min(stays, slot) };
  };

  const getHead = async (): Promise<Head> => {
    const head = await highest.get((pass) => transport.attempt(async (endpoint) => pass(await readHead(endpoint))));
    finalized = Math.max(finalized, head.finalizedHeight ?? 0);
    turn += 1;
    return head;
  };

  return {
    seen: () => highest.seen,
    finalized: () => Math.min(finalized, highest.seen),
    turn: () => turn,
    getHead,
    accept,
  };
}
