/**
 * The next counter of an own address, as the company's own node reports it: the bound for a nonce or sequence above
 * what this edge signed.
 */
import { ChainUnavailable, MalformedReply } from '../../chains/chain.ts';
import type { RecordedInstruction } from './instructions.ts';
import type { OwnNodes } from './own-nodes.ts';

/** Asks the chain's node; null where none is configured or its answer proves nothing. A failing node is no error. */
export function createOwnCounters(nodes: OwnNodes): (recorded: RecordedInstruction) => Promise<bigint | null> {
  return async ({ instruction: { chain, from, fromPath, to, token, tag, purpose }, unsigned }) => {
    if (!nodes.has(chain)) return null;
    try {
      const { module, client } = await nodes.of(chain);
      await client.checkIdentity();
      const kind = purpose === 'opt_in' ? 'trustline' : 'payment';
      const inputs = await client.fetchBuildInputs({
        chain,
        from,
        fromPath,
        to,
        amount: unsigned.amount,
        token,
        tag,
        kind,
      });
      const next = module.nextReplayValue(inputs),
        pending = module.pendingReplayValue?.(inputs) ?? next;
      return next === null || pending === null ? null : BigInt(pending > next ? pending : next);
    } catch (error) {
      if (error instanceof ChainUnavailable || error instanceof MalformedReply) return null;
      throw error;
    }
  };
}
