/**
 * Giving up a build whose Idempotency-Key the cloud gave to a newer one, since it expired unsigned. The cloud's word
 * alone frees nothing: a replica that this one has not heard of could sign the first build while this one signs the
 * second, and both would be paid. It is given up where one of these holds:
 *
 *   with EDGE_SPEND_LEDGER           the ledger never counted it, and counts it for no replica from then on
 *   without, a counter is bound      this replica built it and handed no bound version out: nobody else signs it
 *   without, coins are spent         the newer build spends every coin of it: at most one of the two lands
 *
 * Otherwise the key stays with the first build and its caller is refused.
 */
import type { Unsigned } from '../../chains/chain.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { SpendLedger } from '../spend/ledger.ts';
import type { SharedSpend } from '../spend/replica.ts';
import type { CounterBinding } from './binding.ts';
import type { Instructions } from './instructions.ts';
import { subjectOf } from './payments.ts';
import { keepsReplayKey } from './replay-keys.ts';

/** Builds that may hold one key one after the other within 24 hours. */
export const SUPERSEDED_MAX = 16;

export interface GivingUp {
  readonly instructions: Instructions;
  readonly binding: Pick<CounterBinding, 'stateOf' | 'sharesLedger'>;
  readonly ledger: Pick<SpendLedger, 'settle'>;
  /** The count of all replicas together; null where each counts for itself. */
  readonly shared: Pick<SharedSpend, 'retire'> | null;
}

/**
 * Whether a build can be given up for the payload `next`: true when no replica can sign it beside that. Refuses:
 * SERVICE_UNAVAILABLE when the shared ledger cannot be asked.
 */
export async function giveUp(
  { instructions, binding, ledger, shared }: GivingUp,
  transactionId: string,
  next: Unsigned,
): Promise<boolean | Refusal> {
  const recorded = instructions.get(transactionId);
  if (recorded === null || instructions.mayBeSigned(transactionId)) return false;
  const { instruction, unsigned } = recorded;
  if ((instruction.request?.supersedes?.length ?? 0) >= SUPERSEDED_MAX) return false;
  if (shared !== null) {
    const retired = await shared.retire({ subject: subjectOf(instruction), transactionId, chain: instruction.chain });
    return isRefusal(retired) ? retired : retired && !instructions.mayBeSigned(transactionId);
  }
  if (binding.stateOf(transactionId) === 'own') {
    ledger.settle([transactionId], 'dead'); // a broadcast at another replica may be noted: that one cannot sign it
    return true;
  }
  return unsigned.replayKey.kind === 'outpoints' && keepsReplayKey(next.replayKey, unsigned.replayKey);
}

/** The refusal of a broadcast of what was given up; nothing of it was signed, and nothing will be. */
export function superseded(by: string): Refusal {
  return refuse(
    'CONFLICT',
    { reason: 'superseded', by, signed: false, next: 'broadcast the id in by, the newer build of its Idempotency-Key' },
    'this build expired unsigned, and its Idempotency-Key was answered with a newer one: it is signed no more',
  );
}
