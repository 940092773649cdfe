/** What every page shows while it has nothing yet, has nothing at all, or could not be read. Console C8. */
import type { ComponentChildren, JSX } from 'preact';
import { isRefusal } from '../../protocol/errors.ts';
import { isOnline, nowMs } from '../app/live.ts';
import { BASE } from '../app/place.ts';
import type { Failed, Read } from '../app/read.ts';
import { Copy } from './parts.tsx';
import { ago, plain, words } from './text.ts';

export function Skeleton({ rows = 6 }: { rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} class={`w${at % 4}`} />
      ))}
    </div>
  );
}

export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** The words of a refusal that are worth a reader's time. */
export function refusalWords({ refusal }: Failed): string {
  const { code, message, details } = refusal;
  const next = typeof details['next'] === 'string' ? ` Next: ${details['next']}.` : '';
  if (isSsoRequired(refusal)) return 'Your organization lets you in by its identity provider alone.';
  if (code === 'NOT_FOUND' && details['what'] === 'path' && typeof details['servedBy'] === 'string')
    return `People of this deployment sign in at ${details['servedBy']}, which keeps their passwords and factors.`;
  if (code === 'FORBIDDEN' && typeof details['needs'] === 'string')
    return `Your role does not allow this: it needs ${details['needs']}.`;
  if (code === 'FORBIDDEN') return `This is not allowed.${next}`;
  if (code === 'UPSTREAM_UNAVAILABLE' || code === 'SERVICE_UNAVAILABLE')
    return `The service does not answer at the moment.${next}`;
  if (code === 'TIER_FEATURE_LOCKED')
    return `Your plan does not include this: ${words(String(details['feature'] ?? 'feature'))}. It comes with ${String(details['requiredTier'] ?? 'a higher tier')}.`;
  if (code === 'CONFLICT' && typeof details['reason'] === 'string' && !message.includes(details['reason']))
    return `${plain(message)}: ${words(details['reason']).toLowerCase()}.${next}`;
  if (code === 'MERCHANT_NOT_ACTIVE')
    return 'Payments are switched off: an owner switches them on, under “Payment settings”.';
  return `${plain(message)}.${next}`.replace(/\.\./, '.');
}

/** The organization lets this person in by its provider alone, and the operator has not closed that. Console A41. */
const isSsoRequired = ({ details }: Failed['refusal']): boolean =>
  details['reason'] === 'sso_required' && details['setting'] === undefined;

export function Failure({ failed, again }: { failed: Failed; again?: () => void }): JSX.Element {
  const { refusal, requestId } = failed;
  return (
    <div class="failure" role="alert">
      <p>
        <b>{refusal.code}</b> {refusalWords(failed)}
        {isSsoRequired(refusal) && (
          <>
            {' '}
            <a href={`${BASE}/sso`}>Sign in by the provider</a>
          </>
        )}
      </p>
      <p class="failure-foot">
        {again !== undefined && (
          <button type="button" class="button small" onClick={again}>
            Try again
          </button>
        )}
        {requestId !== null && (
          <span class="faint">
            Request <code>{requestId}</code> <Copy text={requestId} label="Copy request id" />
          </span>
        )}
      </p>
    </div>
  );
}

/** Shows what was read, or why not. Old data stays on the screen, with its age. */
export function Shown<T>({
  read,
  children,
  rows,
}: {
  read: Read<T> & { again(): Promise<void> };
  children: (data: T) => ComponentChildren;
  rows?: number;
}): JSX.Element {
  const { data, failure, atMs, again } = read;
  if (data === null) {
    return failure === null ? <Skeleton rows={rows} /> : <Failure failed={failure} again={() => void again()} />;
  }
  const isOld = failure !== null || !isOnline.value;
  return (
    <>
      {isOld && atMs !== null && (
        <p class="notice warn" role="status">
          {isOnline.value ? 'The newest answer failed' : 'This browser is offline'}: what is shown was read{' '}
          {ago(new Date(atMs).toISOString(), nowMs.value)}.
        </p>
      )}
      {children(data)}
    </>
  );
}

/** The answer of a write as words; null while it is good. */
export const failedOf = (answer: { outcome: unknown; requestId: string | null }): Failed | null =>
  isRefusal(answer.outcome) ? { refusal: answer.outcome, requestId: answer.requestId } : null;
