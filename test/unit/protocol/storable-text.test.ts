/** What a request may have in it that no table takes: refused by its field, and not by the store as a fault of ours. */
import test from 'ava';
import { z } from 'zod';
import { exampleOfSchema } from '../../../gateway/pages/examples.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { Route } from '../../../protocol/route.ts';
import { ROUTES } from '../../../protocol/routes.ts';
import { validate } from '../../../protocol/validation.ts';

type Json = Record<string, unknown>;
type Place = readonly (string | number)[];

const WITH_BODY = Object.entries(ROUTES as Readonly<Record<string, Route>>).filter(
  ([, { body }]) => body !== undefined,
);
/** Each text gets one of them in turn. */
const BAD = ['\u0000', '\ud800', '\udc00'].flatMap((bad) =>
  (['before', 'after', 'alone'] as const).map((where) => [bad, where] as const),
);
/** More than any union of a body has. */
const OPTIONS_MAX = 8;

/** A schema in which each union has one of its options only. */
function narrowed(schema: unknown, nth: number): unknown {
  if (Array.isArray(schema)) return schema.map((each) => narrowed(each, nth));
  if (typeof schema !== 'object' || schema === null) return schema;
  const options = (schema as { anyOf?: Json[]; oneOf?: Json[] }).anyOf ?? (schema as { oneOf?: Json[] }).oneOf;
  if (options !== undefined) {
    const some = options.filter(({ type }) => type !== 'null');
    return narrowed(some[nth % some.length], nth);
  }
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, narrowed(part, nth)]));
}

/** Bodies that a route takes, as its description shows them: one for each option of its unions. */
function bodiesOf({ body }: Route): unknown[] {
  const schema = z.toJSONSchema(body!, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Json;
  const bodies = Array.from({ length: OPTIONS_MAX }, (_, nth) => exampleOfSchema(narrowed(schema, nth) as Json, {}));
  return [...new Map(bodies.map((each) => [JSON.stringify(each), each])).values()];
}

/** Every text in a value, and where a name of it may be added. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...at, name]));
}

function altered(value: unknown, [first, ...rest]: Place, change: (text: string) => string): unknown {
  if (first === undefined) return change(value as string);
  const copy = structuredClone(value) as Json;
  copy[first] = altered(copy[first], rest, change);
  return copy;
}

const given = (route: Route, body: unknown) =>
  validate({ ...(route.body === undefined ? {} : { body: route.body }) }, { params: {}, query: {}, body });

test('U+0000 and half of a surrogate pair are refused in every text of a body, however deep and whatever union it is in', (t) => {
  const taken: string[] = [];
  let tried = 0;
  for (const [operation, route] of WITH_BODY)
    for (const body of bodiesOf(route))
      for (const place of placesIn(body)) {
        const [bad, where] = BAD[(tried += 1) % BAD.length]!;
        const hostile = altered(body, place, (text) =>
          where === 'alone' ? bad : where === 'before' ? bad + text : text + bad,
        );
        if (!isRefusal(given(route, hostile)))
          taken.push(`${operation} takes ${JSON.stringify(bad)} in ${place.join('.')}`);
      }
  t.deepEqual(taken, []);
  t.true(tried > 300, `${tried} were tried`);
});

test('a text that cannot be stored is named by its field, of a union too; a value of each kind is taken as it is', (t) => {
  const route: Route = {
    ...ROUTES.createAddress,
    body: z.strictObject({
      list: z.array(z.union([z.string(), z.strictObject({ inner: z.unknown() })])),
      plain: z.record(z.string(), z.unknown()).optional(),
    }),
  };
  t.like(given(route, { list: ['fine', { inner: ['a', 'b\u0000'] }] }), {
    code: 'INVALID_INPUT',
    details: { field: 'list.1.inner.1', problems: [{ field: 'list.1.inner.1' }] },
  });
  t.like(given(route, { list: [], plain: { deep: { 'a\ud800': 1 } } }), {
    code: 'INVALID_INPUT',
    details: { field: 'plain.deep' },
  });
  const fine = { list: ['\u{1f600}\ufffe', { inner: [null, 1, true, ''] }], plain: { é: 'ü' } };
  t.like(given(route, fine), { ok: true, body: fine });
});

test('a body of any depth or width that its bytes allow is taken or refused, never a fault', (t) => {
  for (const [operation, route] of WITH_BODY) {
    const names = [...Object.keys((route.body as { shape?: object }).shape ?? {}), 'unknown'];
    for (const many of [1_000, 8_000]) {
      const deep = JSON.parse('['.repeat(many) + ']'.repeat(many)) as unknown,
        tree = JSON.parse('{"a":'.repeat(many) + '1' + '}'.repeat(many)) as unknown,
        wide = Array.from({ length: many }, () => 1);
      for (const name of names)
        for (const value of [deep, tree, wide, { a: deep }, { a: wide }])
          t.notThrows(() => given(route, { [name]: value }), `${operation} ${name} ${many}`);
    }
  }
});
