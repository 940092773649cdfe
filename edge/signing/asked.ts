/** What a signing policy needs from outside, asked before the check that nothing may be awaited in. */
import { isRefusal } from '../../protocol/errors.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Upstream } from '../link/upstream.ts';
import { isAheadOfOwn, type Asked, type PolicySource } from './policy.ts';
import type { RecordedInstruction } from './stored-text.ts';

export interface AskedOf {
  readonly environment: Environment;
  readonly policies: Pick<PolicySource, 'instructions'>;
  /** The sender's next counter at the company's own node; null without any. */
  readonly nextCounter: ((recorded: RecordedInstruction) => Promise<bigint | null>) | null;
  readonly upstream: Pick<Upstream, 'signed'>;
}

/** Withdrawals that will not land any more. A sandbox reset forgets them altogether. */
const RELEASED: ReadonlySet<string> = new Set(['failed', 'expired', 'replaced']);

/** Asks the company's own node for a counter that this edge knows nothing of, and the cloud for clashing signatures. */
export async function askFor(outside: AskedOf, recorded: RecordedInstruction): Promise<Asked> {
  const { policies, nextCounter } = outside;
  const [released, nextAtNode] = await Promise.all([
    releasedAmong(outside, recorded),
    nextCounter !== null && isAheadOfOwn(policies, recorded) ? nextCounter(recorded) : null,
  ]);
  return { released, nextAtNode };
}

/**
 * Transactions that used the same replay key and have failed since: their key is free again (V39). At most one of two
 * payloads with one key can land, so the cloud's word suffices; it is asked only where there is such a clash.
 */
async function releasedAmong(
  { policies: { instructions }, upstream, environment }: AskedOf,
  { instruction, unsigned }: RecordedInstruction,
): Promise<ReadonlySet<string>> {
  const others = new Set(
    instructions
      .signaturesUnder(unsigned.chain, unsigned.from, unsigned.replayKey)
      .map(({ transactionId }) => transactionId),
  );
  others.delete(instruction.id);
  const released = new Set<string>();
  for (const transactionId of others) {
    const reply = await upstream.signed.call('getTransaction', { params: { id: transactionId } });
    const gone = isRefusal(reply)
      ? reply.code === 'NOT_FOUND' && environment === 'sandbox'
      : RELEASED.has(reply.status);
    if (gone) released.add(transactionId);
  }
  return released;
}
