/** What `flock doctor` sees of endpoints and their deliveries. */
import { fail, ok, unknown, warn, type Finding } from '../../protocol/node/doctor/examine.ts';
import { faultOf } from '../../protocol/webhook-fault.ts';
import type { Flock } from '../typescript/src/index.ts';
import type { Session } from './session.ts';

const NEWEST = 50;
const LETTER_DAYS = 7;
const DAY_MS = 86_400_000;

type Endpoint = Awaited<ReturnType<Flock['listWebhooks']>>['content'][number];

async function endpointsOf(flock: Flock): Promise<Endpoint[]> {
  const all: Endpoint[] = [];
  for await (const endpoint of flock.listWebhooks.all({})) if (endpoint.status !== 'deleted') all.push(endpoint);
  return all;
}

/** An edge knows where its rules keep webhooks from; the cloud never learns that. */
export async function endpointsFinding({ flock, isEdge }: Session): Promise<Finding> {
  const all = await endpointsOf(flock);
  const [blocked] = isEdge ? ((await flock.getEdgeHealth({})).webhooksBlocked ?? []) : [];
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

export async function rotationFinding(flock: Flock): Promise<Finding> {
  const open = (await endpointsOf(flock)).filter(({ rotating }) => rotating);
  if (open.length === 0) return ok('none is open');
  return warn(
    `the former secret of ${namesOf(open)} is still good`,
    'when your receivers have the new one: dropPreviousWebhookSecret',
  );
}

export async function deliveriesFinding(flock: Flock): Promise<Finding> {
  const [{ content }, letters] = await Promise.all([
    flock.listDeliveries({ size: NEWEST }),
    flock.listDeadLetters({ size: 1 }),
  ]);
  const held = content.find(({ status }) => status === 'held');
  if (held?.heldReason === 'secret_unreadable')
    return fail('deliveries are held: a secret does not open', 'ask the operator of the cloud to look at SECRET_KEY');
  const tried = content.filter(({ status, attempts }) => status !== 'held' && attempts.length > 0);
  const newest = new Map(tried.toReversed().map((delivery) => [delivery.webhookId, delivery]));
  const failing = [...newest.values()].filter(({ status }) => status !== 'delivered');
  const [first] = failing;
  if (first !== undefined) {
    const { statusCode, error } = first.attempts.at(-1)!;
    return fail(
      `the newest attempt of ${failing.length} of ${newest.size} endpoints failed: ${statusCode ?? error ?? 'no answer'}`,
      'look at the receiver: it answers 2xx within its time, and before it works',
    );
  }
  const [letter] = letters.content;
  if (letter !== undefined && Date.now() - Date.parse(letter.createdAt) < LETTER_DAYS * DAY_MS)
    return warn('deliveries of this week were given up', 'flock replay --from TIME --to TIME counts and sends them');
  return ok(tried.length === 0 ? 'none yet' : `the newest of ${newest.size} endpoints arrived`);
}

/** Endpoints that one look tests: as many as an account may test at a time. */
const TESTED_MAX = 10;

/** Each enabled endpoint gets a test, all at once; nothing is waited for, or tried again, beyond `signal`. */
export async function testFinding(flock: Flock, signal: AbortSignal): Promise<Finding> {
  const enabled = (await endpointsOf(flock)).filter(({ status }) => status === 'enabled');
  const some = enabled.slice(0, TESTED_MAX);
  const tests = await Promise.all(
    some.map(async ({ id }) => ({ id, fault: faultOf(await flock.testWebhook({ webhookId: id }, { signal })) })),
  );
  const failed = tests.filter(({ fault }) => fault !== null);
  const [first] = failed;
  if (first !== undefined)
    return fail(
      `${failed.length} of ${tests.length} endpoints do not pass, the first ${first.id}: ${first.fault}`,
      `mend the receiver, and look again: flock webhooks test ${first.id}`,
    );
  if (enabled.length > some.length)
    return unknown(
      `${some.length} of ${enabled.length} endpoints pass`,
      'test the others: flock webhooks test WEBHOOK_ID',
    );
  return ok(some.length === 0 ? 'none is registered' : `${some.length} take a good signature and refuse a broken one`);
}

const namesOf = (endpoints: readonly Endpoint[]): string =>
  endpoints
    .slice(0, 3)
    .map(({ id }) => id)
    .join(', ') + (endpoints.length > 3 ? ' …' : '');
