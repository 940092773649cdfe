/** What `flock doctor` sees of endpoints and their deliveries. */
import { deliveriesFinding, endpointsFinding, rotationFinding } from '../../protocol/account-findings.ts';
import { fail, ok, unknown, type Finding } from '../../protocol/finding.ts';
import { faultOf } from '../../protocol/webhook-fault.ts';
import type { Flock } from '../typescript/src/index.ts';
import type { Session } from './session.ts';

const NEWEST = 50;

type Endpoint = Awaited<ReturnType<Flock['listWebhooks']>>['content'][number];

async function endpointsOf(flock: Flock, signal: AbortSignal): Promise<Endpoint[]> {
  const all: Endpoint[] = [];
  for await (const endpoint of flock.listWebhooks.all({}, { signal }))
    if (endpoint.status !== 'deleted') all.push(endpoint);
  return all;
}

/** An edge knows where its rules keep webhooks from; the cloud never learns that. */
export async function lookAtEndpoints({ flock, isEdge }: Session, signal: AbortSignal): Promise<Finding> {
  const all = await endpointsOf(flock, signal);
  return endpointsFinding(all, isEdge ? ((await flock.getEdgeHealth({}, { signal })).webhooksBlocked ?? []) : []);
}

export const lookAtRotations = async (flock: Flock, signal: AbortSignal): Promise<Finding> =>
  rotationFinding(await endpointsOf(flock, signal));

export async function lookAtDeliveries(flock: Flock, signal: AbortSignal): Promise<Finding> {
  const [{ content }, letters] = await Promise.all([
    flock.listDeliveries({ size: NEWEST }, { signal }),
    flock.listDeadLetters({ size: 1 }, { signal }),
  ]);
  return deliveriesFinding(content, letters.content[0], Date.now());
}

/** Endpoints that one look tests: as many as an account may test at a time. */
const TESTED_MAX = 10;

/** Each enabled endpoint gets a test, all at once; nothing is waited for, or tried again, beyond `signal`. */
export async function testFinding(flock: Flock, signal: AbortSignal): Promise<Finding> {
  const enabled = (await endpointsOf(flock, signal)).filter(({ status }) => status === 'enabled');
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
