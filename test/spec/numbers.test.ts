/**
 * Numbers of frames and routes: whatever the schema of one lets through has bounds, in the schema that is published
 * too.
 */
import test from 'ava';
import { z } from 'zod';
import * as frames from '../../protocol/frames.ts';
import { ROUTES } from '../../protocol/routes.ts';

/** Numbers of a JSON schema without a bound, by their path. */
function unbounded(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, minimum, maximum } = schema as { type?: unknown; minimum?: unknown; maximum?: unknown };
  const own =
    (type === 'number' || type === 'integer') && (typeof minimum !== 'number' || typeof maximum !== 'number')
      ? [at]
      : [];
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => unbounded(value, `${at}.${key}`))];
}

const jsonOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

test('found: no frame of the stream and no route takes or gives a number without bounds', (t) => {
  const schemas = Object.entries(frames).flatMap(([name, value]): [string, z.ZodType][] =>
    value instanceof z.ZodType ? [[name, value]] : [],
  );
  t.true(schemas.length > 20);
  for (const [name, schema] of schemas) t.deepEqual(unbounded(jsonOf(schema), name), []);
  let count = 0;
  for (const [name, route] of Object.entries(ROUTES)) {
    for (const [part, schema] of Object.entries(route)) {
      if (!(schema instanceof z.ZodType)) continue;
      count += 1;
      t.deepEqual(unbounded(jsonOf(schema), `${name}.${part}`), []);
    }
  }
  t.true(count > 60, `${count}`);
});

test('found: a lease of centuries, a refill from below zero, a deposit that came to be zero times: refused', (t) => {
  const lease = { role: 'leader', leaseEpoch: 3, leaseTtlMs: 30_000 };
  t.true(frames.leaseFrame.safeParse(lease).success);
  for (const leaseTtlMs of [0, -1, 600_001, 1e15, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) {
    t.false(frames.leaseFrame.safeParse({ ...lease, leaseTtlMs }).success, `${leaseTtlMs}`);
    t.false(frames.heartbeatReply.safeParse({ ok: true, ...lease, leaseTtlMs }).success, `${leaseTtlMs}`);
  }
  const refill = { leaseEpoch: 3, chain: 'sol', from: 0, count: 1_000 };
  t.true(frames.replenishFrame.safeParse(refill).success);
  for (const from of [-1, 2 ** 31, 0.5, -(2 ** 53)])
    t.false(frames.replenishFrame.safeParse({ ...refill, from }).success, `${from}`);
});
