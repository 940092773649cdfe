/** The present password as a proof of who asks. A guess at it counts as one at sign-in. Console A8, A20. */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { isPassword } from '../auth/passwords.ts';
import { DEVICE_COOKIE, type Throttles } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import type { AuditAction } from '../../../model/rows/audit.ts';
import type { Asked } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

type FromOutside = Pick<Asked, 'caller' | 'clientAddress' | 'cookies' | 'client' | 'requestId'>;

/** Null for the right one. Refuses: RATE_LIMIT_EXCEEDED, INVALID_INPUT with `field`. */
export async function wrongPassword(
  { throttles, stores: { auditLog } }: { throttles: Pick<Throttles, 'refusal'> } & Pick<HandlerDeps, 'stores'>,
  asked: FromOutside,
  user: { id: string; email: string; passwordHash: string },
  { field, typed, action }: { field: string; typed: string; action: AuditAction },
): Promise<Refusal | null> {
  const guess = { address: asked.clientAddress, email: user.email, device: asked.cookies[DEVICE_COOKIE] };
  const slow = await throttles.refusal(guess);
  if (slow !== null) return slow;
  if (await isPassword(user.passwordHash, typed)) return null;
  await auditLog.recordOfUser(user.id, ofUser(asked, action, { outcome: 'failed', reason: 'password' }));
  return refuse('INVALID_INPUT', { field, reason: 'wrong', next: 'give the present password' });
}
