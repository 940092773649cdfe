/**
 * Hashes of validated ledgers that were accepted. Such a ledger is final: a server that shows another hash for its
 * height is wrong, or of another network, and is disabled (8.4-3) — unless more servers say what it says, in which case
 * the accepted hash was the lie: it is forgotten and whoever told it is disabled.
 */
import { ChainUnavailable, type Endpoint, type Transport } from '../chain.ts';

/** Heights that are remembered. Choice: twice the window of a reorganisation (G15), which this ledger has none of. */
const HEIGHTS_MAX = 512;

export interface KnownLedgers {
  /** Remembers a ledger whose proof was seen. */
  accept(height: number, hash: string): void;
  /** Throws: ChainUnavailable when a server's hash of a height is not the accepted one. */
  check(endpoint: Endpoint, height: number, hash: string): Promise<void>;
  /** The newest accepted ledger, or null. */
  newest(): { readonly height: number; readonly hash: string } | null;
}

/** `readHash` asks one server for the hash that it has at a height. */
export function createKnownLedgers(
  transport: Transport, readHash: (endpoint: Endpoint, height: number) => Promise<string | null>,
): KnownLedgers {
  const accepted = new Map<number, string>();

  const contradicted = async (endpoint: Endpoint, height: number, theirs: string, ours: string): Promise<never> => {
    const others = transport.endpoints.filter((one) => one !== endpoint);
    const votes = await Promise.allSettled(others.map((other) => readHash(other, height)));
    const saying = (hash: string) => others.filter((_, i) => (votes[i] as { value?: string | null }).value === hash);
    const liars = saying(theirs).length + 1 > saying(ours).length ? saying(ours) : [endpoint];
    for (const liar of liars) transport.report(liar, 'wrong_network');
    if (!liars.includes(endpoint)) for (const known of accepted.keys()) if (known >= height) accepted.delete(known);
    throw new ChainUnavailable('xrp', `servers disagree about the validated ledger ${height}`);
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
      const height = Math.max(...accepted.keys());
      return accepted.size === 0 ? null : { height, hash: accepted.get(height)! };
    },
  };
}
