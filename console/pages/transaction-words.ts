/** What a transaction is, in words: of the treasury itself, what it does. Treasury S23. */
import type { ReplyOf } from '../../protocol/routes.ts';
import type { OperationRole } from '../../protocol/slugs.ts';

const ROLES: Readonly<Record<OperationRole, string>> = {
  fund: 'Gas for a sweep',
  sweep: 'Sweep',
  approve: 'Approval for a bridge',
  burn: 'Burn for a bridge',
  mint: 'Mint for a bridge',
};

export function kindOf({
  direction,
  kind,
  role,
}: Pick<ReplyOf<'getTransaction'>, 'direction' | 'kind' | 'role'>): string {
  if (direction === 'in') return 'Deposit';
  if (role !== null) return ROLES[role];
  return kind === 'sweep' ? 'Treasury operation' : 'Withdrawal';
}
