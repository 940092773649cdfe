import test from 'ava';
import { z } from 'zod';
import { withAmountExample } from '../../../gateway/http/chain/chain-input.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { networkOf } from '../../../chains/registry.ts';
import { namesAt, problemsOf, PROBLEMS_MAX } from '../../../protocol/input-problems.ts';
import { AMOUNT_FORM } from '../../../protocol/money.ts';
import { nearestOf } from '../../../protocol/nearest.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { CHAINS } from '../../../protocol/slugs.ts';
import { amount, amountOrAll, decimalAmount } from '../../../protocol/schema/values.ts';
import { validate } from '../../../protocol/validation.ts';
import { isRefusal, precedenceOf, type Refusal } from '../../../protocol/errors.ts';

type Where = 'params' | 'query' | 'body';
interface Told extends Refusal {
  readonly details: {
    field?: string;
    known?: string[];
    nearest?: string;
    problems?: { field: string; message: string }[];
  };
}
const refusal = (route: Partial<Record<Where, z.ZodType>>, where: Where, value: unknown): Told =>
  validate(route as never, { params: {}, query: {}, body: {}, [where]: value }) as Told;
const PLACES: readonly Where[] = ['query', 'body'];

test('found F76: an unknown field of any query or body is named, with the fields that are known there', (t) => {
  let seen = 0;
  for (const route of ROUTE_LIST) {
    for (const where of PLACES) {
      const schema = route[where as 'query'] as z.ZodType | undefined,
        only = schema === undefined ? {} : { [where]: schema };
      const told = refusal(only, where, { unknownField: 1 });
      t.true(isRefusal(told), `${route.operationId} ${where}`);
      const known = schema === undefined ? [] : namesAt(schema, []);
      const named = told.details.problems!.find(
        ({ field }) => field === (where === 'body' ? 'unknownField' : `${where}.unknownField`),
      );
      t.truthy(named, `${route.operationId} ${where}`);
      for (const name of known.slice(0, 40))
        t.true(named!.message.includes(name), `${route.operationId} ${where} ${name}`);
      seen += known.length;
    }
  }
  t.true(seen > 100);
});

test('found F76: the name that was meant is offered, also of a nested object; text that is no name is not repeated', (t) => {
  const body = z.strictObject({
    userRef: z.string().optional(),
    keys: z.array(z.strictObject({ accountPath: z.string().optional() })).optional(),
  });
  t.like(refusal({ body }, 'body', { user_ref: 'u' }), {
    code: 'INVALID_INPUT',
    message: 'user_ref: unknown field; did you mean userRef? known: userRef, keys',
    details: { field: 'user_ref', nearest: 'userRef', known: ['userRef', 'keys'] },
  });
  t.like(refusal({ body }, 'body', { keys: [{}, { accountpath: 'm' }] }).details, {
    field: 'keys.1.accountpath',
    nearest: 'accountPath',
    known: ['accountPath'],
  });
  t.like(refusal({ body }, 'body', JSON.parse('{"__proto__":{"admin":true}}')).details, { field: '__proto__' });
  const free = z.strictObject({ metadata: z.record(z.string(), z.unknown()) });
  t.like(
    refusal({ body: free }, 'body', JSON.parse('{"metadata":{"a":1,"__proto__":2}}')).details,
    { field: 'metadata.__proto__' },
    'kept or refused, and never lost',
  );
  t.like(refusal({ body: free }, 'body', JSON.parse('{"metadata":{"a":[{"__proto__":2}]}}')).details, {
    field: 'metadata.a.0.__proto__',
  });
  for (const name of ['abandon abandon abandon', '<script>', 'a\nb', 'x'.repeat(65), 'ключ']) {
    const told = refusal({ body }, 'body', { [name]: 1 });
    t.is(told.details.field, 'body');
    t.false(JSON.stringify(told).includes(name));
  }
});

test('found F76: an amount with too many digits is called too large, whatever field it is in; any other is told what an amount is', (t) => {
  const long = '9'.repeat(79);
  for (const [schema, text] of [
    [amount, long],
    [amountOrAll, long],
    [decimalAmount, long],
    [decimalAmount, `${long}.5`],
  ] as const) {
    const told = refusal({ body: z.strictObject({ amount: schema }) }, 'body', { amount: text });
    t.like(told, { code: 'INVALID_AMOUNT', message: 'amount: too large: an amount has at most 78 digits' });
  }
  for (const text of ['0', '-1', '1e9', ''])
    t.like(refusal({ body: z.strictObject({ amount }) }, 'body', { amount: text }), {
      code: 'INVALID_AMOUNT',
      message: `amount: ${AMOUNT_FORM}`,
    });
});

test('found F76: no refusal of any route speaks zod; each says what was expected of which field', (t) => {
  const wrong = [
    undefined,
    null,
    5,
    1.5,
    '',
    'x',
    'x'.repeat(5_000),
    [],
    [[]],
    {},
    { a: 1 },
    true,
    '\u0000',
    '-1',
    '99999999999999999999',
  ];
  let told = 0;
  for (const route of ROUTE_LIST) {
    for (const where of ['params', ...PLACES] as const) {
      const schema = route[where as 'query'] as z.ZodType | undefined;
      if (schema === undefined) continue;
      for (const value of wrong) {
        const answer = refusal(
          { [where]: schema },
          where,
          Object.fromEntries(namesAt(schema, []).map((name) => [name, value])),
        );
        if (!isRefusal(answer)) continue;
        for (const { field, message } of answer.details.problems ?? [{ field: '', message: answer.message }]) {
          told += 1;
          t.notRegex(
            message,
            /Invalid|Too (?:small|big)|Unrecognized|pattern \/|\^|\[object|undefined/,
            `${route.operationId} ${field} ${JSON.stringify(value)?.slice(0, 40)}`,
          );
          t.true(message.length > 3);
        }
      }
    }
  }
  t.true(told > 500);
});

test('found F76: a cursor that is none is said so in the words of its list, whatever is sent', (t) => {
  const { query } = ROUTE_LIST.find(({ operationId }) => operationId === 'listAddresses') as { query: z.ZodType };
  for (const after of ['', 'x'.repeat(2_000), ['a', 'b']]) {
    const told = refusal({ query }, 'query', { after });
    t.is(told.details.field, 'query.after');
    t.regex(told.message, /not a cursor of this list: send the `next` of its last page, unchanged/);
  }
});

test('found F76: an amount is said to be a whole number of the smallest unit as a string, with an example of its asset', (t) => {
  const { body } = ROUTE_LIST.find(({ operationId }) => operationId === 'buildTransaction') as { body: z.ZodType };
  const units = {
    btc: 'satoshi',
    eth: 'wei',
    bsc: 'wei',
    polygon: 'wei',
    avax: 'wei',
    base: 'wei',
    tron: 'sun',
    sol: 'lamport',
    xrp: 'drop',
    xlm: 'stroop',
  } as const;
  for (const chain of CHAINS) {
    for (const amount of [1.5, 1, '1.5', '0', '-1', '1e18', '', '01', null, {}, '1 ETH']) {
      const sent = { chain, from: 'a', to: 'b', amount },
        told = withAmountExample(refusal({ body }, 'body', sent), sent, { catalogueOf });
      t.is(
        told.code,
        typeof amount === 'string' ? 'INVALID_AMOUNT' : 'INVALID_INPUT',
        `${chain} ${JSON.stringify(amount)}`,
      );
      t.regex(
        told.message,
        /^amount: amounts are whole numbers above zero in the smallest unit of the asset, as a string; for example "150*" is 1\.5 /,
      );
      t.like(told.details, {
        field: 'amount',
        example: { unit: units[chain], decimals: networkOf(chain).nativeDecimals },
      });
    }
    for (const { contract, decimals, symbol } of [...catalogueOf(chain).values()].slice(0, 2)) {
      const told = withAmountExample(
        refusal({ body }, 'body', { chain, from: 'a', to: 'b', amount: '1.5', tokenContract: contract }),
        { chain, tokenContract: contract },
        { catalogueOf },
      );
      t.like(told.details, { example: { is: `1.5 ${symbol}`, decimals, amount: `15${'0'.repeat(decimals - 1)}` } });
    }
  }
  t.like(
    refusal({ body }, 'body', { chain: 'eth', from: 'a', to: 'b' }),
    { code: 'INVALID_INPUT', details: { field: 'amount' } },
    'none at all is a missing field',
  );
});

test('the nearest name is one that was mistyped, and none where nothing is near', (t) => {
  t.is(nearestOf('USERREF', ['userRef', 'tag']), 'userRef');
  t.is(nearestOf('usreRef', ['userRef', 'tag']), 'userRef');
  t.is(nearestOf('amuont', ['amount', 'account']), 'amount');
  t.is(nearestOf('colour', ['page', 'size', 'after']), null);
  t.is(nearestOf('x', []), null);
  t.is(nearestOf('x'.repeat(100_000), ['x'.repeat(99_999)]), null);
});

test('a body of nothing but faults is put in words for the first twenty, and its code is the earliest of all', (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`unknown${at}`, at]));
  let looked = 0;
  const entry = z.lazy(() => {
    looked += 1;
    return z.strictObject({ account: z.string().optional() });
  });
  const body = z.strictObject({ entries: z.array(entry).optional(), name: z.string().optional() });
  const parsed = body.safeParse(unknown);
  t.is(problemsOf(body, unknown, parsed.error!.issues[0]!).length, PROBLEMS_MAX);
  t.is(refusal({ body }, 'body', unknown).details.problems!.length, PROBLEMS_MAX);
  t.is(refusal({}, 'body', unknown).details.problems!.length, PROBLEMS_MAX, 'where nothing is taken');

  const entries = Array.from({ length: 2_000 }, () => ({ acount: 1 }));
  body.safeParse({ entries: entries.slice(0, 1) });
  looked = 0;
  t.is(refusal({ body }, 'body', { entries }).details.problems!.length, PROBLEMS_MAX);
  t.true(looked <= 2 * PROBLEMS_MAX, `the known names were looked up ${looked} times`);

  t.true(precedenceOf('INVALID_CHAIN') < precedenceOf('INVALID_AMOUNT'));
  const rows = z.array(z.string().refine((text) => text === 'eth', 'INVALID_AMOUNT'));
  const mixed = z.object({ rows, chain: z.string().refine(() => false, 'INVALID_CHAIN') });
  const told = refusal({ body: mixed }, 'body', { rows: Array.from({ length: 100 }, () => 'x'), chain: 'x' });
  t.like(told, { code: 'INVALID_CHAIN', details: { field: 'chain' } });
  t.is(told.details.problems!.length, PROBLEMS_MAX);
});
