/**
 * What replies say of the set-up of an account, without asking: `flock doctor` and the console ask, each in its own
 * way, and show the same. Ecosystem X35, X36.
 */
import { fail, ok, warn, type Finding } from './finding.ts';

const LETTER_DAYS = 7;
const DAY_MS = 86_400_000;

/** Words of a reply are text here: a client may hold one that is newer than this release. */
export interface Endpoint {
  readonly id: string;
  readonly status: string;
  readonly rotating: boolean;
}
export interface Delivery {
  readonly webhookId: string;
  readonly status: string;
  readonly heldReason: string | null;
  readonly attempts: readonly { readonly statusCode: number | null; readonly error: string | null }[];
}
/** Where an edge holds webhooks back; a cloud never learns that. */
export interface Blocked {
  readonly target: string;
  readonly reason: string;
  readonly next: string;
}

export function leaderFinding({ state, epoch }: { readonly state: string; readonly epoch: number }): Finding {
  return state === 'held'
    ? ok(`an edge leads (epoch ${epoch})`)
    : fail('no edge leads: events wait, and nothing is signed', 'start the edge, and run flock-edge doctor there');
}

export function endpointsFinding(all: readonly Endpoint[], [blocked]: readonly Blocked[]): Finding {
  if (blocked !== undefined)
    return fail(`the edge holds webhooks to ${blocked.target} back: ${blocked.reason}`, blocked.next);
  const off = all.filter(({ status }) => status === 'disabled');
  if (off.length > 0)
    return warn(
      `${off.length} of ${all.length} are switched off: ${namesOf(off)}`,
      'mend them, and replace each (PUT)',
    );
  return ok(all.length === 0 ? 'none is registered: nothing is posted' : `${all.length} registered`);
}

export function rotationFinding(all: readonly Endpoint[]): Finding {
  const open = all.filter(({ rotating }) => rotating);
  if (open.length === 0) return ok('none is open');
  return warn(
    `the former secret of ${namesOf(open)} is still good`,
    'when your receivers have the new one: dropPreviousWebhookSecret',
  );
}

/** `newest`: the newest deliveries, newest first; `letter`: the newest dead letter. */
export function deliveriesFinding(
  newest: readonly Delivery[],
  letter: { readonly createdAt: string } | undefined,
  nowMs: number,
): Finding {
  const held = newest.find(({ status }) => status === 'held');
  if (held?.heldReason === 'secret_unreadable')
    return fail('deliveries are held: a secret does not open', 'ask the operator of the cloud to look at SECRET_KEY');
  const tried = newest.filter(({ status, attempts }) => status !== 'held' && attempts.length > 0);
  const last = new Map(tried.toReversed().map((delivery) => [delivery.webhookId, delivery]));
  const failing = [...last.values()].filter(({ status }) => status !== 'delivered');
  const [first] = failing;
  if (first !== undefined) {
    const { statusCode, error } = first.attempts.at(-1)!;
    return fail(
      `the newest attempt of ${failing.length} of ${last.size} endpoints failed: ${statusCode ?? error ?? 'no answer'}`,
      'look at the receiver: it answers 2xx within its time, and before it works',
    );
  }
  if (letter !== undefined && nowMs - Date.parse(letter.createdAt) < LETTER_DAYS * DAY_MS)
    return warn('deliveries of this week were given up', 'flock replay --from TIME --to TIME counts and sends them');
  return ok(tried.length === 0 ? 'none yet' : `the newest of ${last.size} endpoints arrived`);
}

const namesOf = (endpoints: readonly Endpoint[]): string =>
  endpoints
    .slice(0, 3)
    .map(({ id }) => id)
    .join(', ') + (endpoints.length > 3 ? ' …' : '');
