/** What of the plan is nearly or wholly used up in the month. Console B16. */
import type { JSX } from 'preact';
import type { ReplyOf } from '../../protocol/routes.ts';
import { grouped } from './text.ts';

const NAMES = {
  addresses: 'active addresses',
  settledTransactions: 'settled withdrawals',
  webhooks: 'webhooks',
  edgeSessions: 'edge sessions',
} as const;

export function QuotaWarnings({ warnings }: Pick<ReplyOf<'getUsage'>, 'warnings'>): JSX.Element {
  return (
    <>
      {warnings.map(({ quota, threshold, used, limit }) => (
        <p key={quota} class={`notice ${threshold === 100 ? 'bad' : 'warn'}`}>
          {threshold === 100 ? 'Used up' : 'Nearly used up'}: {grouped(String(used))} of {grouped(String(limit))}{' '}
          {NAMES[quota]} of the plan, {threshold} % reached this month.
        </p>
      ))}
    </>
  );
}
