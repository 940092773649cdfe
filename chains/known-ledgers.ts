/**
 * Hashes of final ledgers that were accepted (xrp, xlm). Of two hashes for one height one is a lie, or of another
 * network, and the majority of the servers disables those that report it. Where they are equally many nothing is
 * proven, nobody is disabled, and the height waits for a person. 8.4-3, 9.4-1, G14.
 */
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable, type Endpoint, type Transport } from './chain.ts';

/**
 * Heights that are remembered. Choice: twice the window of a reorganisation (G15), which these ledgers have none of.
 */
const HEIGHTS_MAX = 512;

export interface KnownLedgers {
  /** Remembers a ledger whose proof was seen. */
  accept(height: number, hash: string): void;
  /** Throws: ChainUnavailable when a server's hash of a height is not the accepted one. */
  check(endpoint: Endpoint, height: number, hash: string): Promise<void>;
  /** The newest accepted ledger, or null. */
  newest(): { readonly height: number; readonly hash: string } | null;
}

/** A server that is asked for the hash that it has at a height, without a check. */
export interface Voter {
  readonly endpoint: Endpoint;
  hashAt(height: number): Promise<string | null>;
}

/** `voters` are all servers that answer now. */
export function createKnownLedgers(
  chain: Chain,
  transport: Transport,
  voters: () => Promise<readonly Voter[]>,
): KnownLedgers {
  const accepted = new Map<number, string>();

  const contradicted = async (endpoint: Endpoint, height: number, theirs: string, ours: string): Promise<never> => {
    const others = (await voters()).filter((voter) => voter.endpoint !== endpoint);
    const votes = await Promise.allSettled(others.map((other) => other.hashAt(height)));
    const saying = (hash: string): Endpoint[] =>
      others.flatMap((other, i) => {
        const vote = votes[i]!;
        return vote.status === 'fulfilled' && vote.value === hash ? [other.endpoint] : [];
      });
    const against = saying(theirs).length + 1,
      inFavour = saying(ours);
    const liars = against > inFavour.length ? inFavour : against < inFavour.length ? [endpoint] : [];
    const [right, wrong] = against > inFavour.length ? [theirs, ours] : [ours, theirs];
    const network = { expected: `ledger ${height} ${right}`, seen: `ledger ${height} ${wrong}` };
    for (const liar of liars) transport.report(liar, 'wrong_network', undefined, network);
    if (against > inFavour.length) for (const known of accepted.keys()) if (known >= height) accepted.delete(known);
    throw new ChainUnavailable(chain, `servers disagree about ledger ${height}`);
  };

  return {
    accept(height, hash) {
      accepted.set(height, hash);
      const oldest = accepted.size > HEIGHTS_MAX ? accepted.keys().next().value : undefined;
      if (oldest !== undefined) accepted.delete(oldest);
    },
    async check(endpoint, height, hash) {
      const known = accepted.get(height);
      if (known !== undefined && known !== hash) await contradicted(endpoint, height, hash, known);
    },
    newest() {
      if (accepted.size === 0) return null;
      const height = Math.max(...accepted.keys());
      return { height, hash: accepted.get(height)! };
    },
  };
}
