/** Liveness and readiness while the database is away. Ecosystem X64, fault 45. */
import test from 'ava';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { healthHandlers } from '../../../gateway/http/operation/health.ts';
import type { HandlerDeps } from '../../../gateway/http/surroundings.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { ROOT } from '../../support/tree.ts';

/** Handlers of a node whose database answers, or does not; `asked` counts the questions. */
function node(health: () => Promise<Readonly<Record<string, boolean>>>) {
  const asked = { count: 0 };
  const deps = {
    health: () => {
      asked.count += 1;
      return health();
    },
    isDraining: () => false,
    config: {},
  };
  return { asked, ...healthHandlers(deps as unknown as HandlerDeps) };
}
const call = (handler: unknown): Promise<unknown> => (handler as (given: object) => Promise<unknown>)({});

test('ecosystem X64 fault 45: liveness never asks the database: one that hangs for ever restarts nobody', async (t) => {
  const { getLive, asked } = node(() => new Promise(() => undefined));
  t.deepEqual(await call(getLive), { status: 'live' });
  t.is(asked.count, 0);
});

test('ecosystem X64 readiness asks it, and answers not ready where nothing is known in time', async (t) => {
  const hanging = node(() => new Promise(() => undefined));
  const answer = await call(hanging.getReady);
  if (!isRefusal(answer)) return t.fail('ready');
  t.is(answer.code, 'SERVICE_UNAVAILABLE');
  t.deepEqual(answer.details['checks'], { database: false, accepting: true });
  t.is(hanging.asked.count, 1);
  const back = node(async () => ({ database: true, owner: true }));
  t.deepEqual(await call(back.getReady), { status: 'ready', checks: { database: true, owner: true, accepting: true } });
});

test('ecosystem X64 the probes of the manifests ask so, and wait longer than the answer takes', (t) => {
  const { spec } = parse(readFileSync(`${ROOT}deploy/kubernetes/base/cloud.yaml`, 'utf8')) as {
    spec: {
      template: { spec: { containers: Record<string, { httpGet: { path: string }; timeoutSeconds?: number }>[] } };
    };
  };
  const [cloud] = spec.template.spec.containers;
  t.is(cloud!['livenessProbe']!.httpGet.path, '/health/live');
  t.is(cloud!['startupProbe']!.httpGet.path, '/health/live');
  t.like(cloud!['readinessProbe'], { httpGet: { path: '/health/ready' } });
  t.true(cloud!['readinessProbe']!.timeoutSeconds! > 1);
});
