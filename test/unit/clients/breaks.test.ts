import test from 'ava';
import { breaksBetween } from '../../../clients/generate/breaks.ts';
import { contractNow, contractText, type Contract } from '../../../clients/generate/contract.ts';
import { shapeOf, type Shape } from '../../../clients/generate/shape.ts';

const NOW = contractNow();
type Loose = { [name: string]: Loose } & { [name: string]: unknown };

/** The breaks of the contract with one thing planted in it. */
function after(plant: (contract: Loose) => void): string[] {
  const changed = JSON.parse(contractText(NOW)) as Loose;
  plant(changed);
  return breaksBetween(NOW, changed as unknown as Contract);
}
const fieldsOf = (contract: Loose, shape: string): Loose => contract['shapes']![shape]!['fields']!;
function rename(fields: Loose, from: string, to: string): void {
  fields[to] = fields[from]!;
  delete fields[from];
}

test('ecosystem X3 a contract breaks nothing of itself, whatever is added to it', (t) => {
  t.deepEqual(breaksBetween(NOW, NOW), []);
  const grown = after((contract) => {
    contract['operations']!['newOperation'] = contract['operations']!['createAddress']!;
    contract['events']!['new_event'] = contract['events']!['deposit_confirmed']!;
    contract['codes']!['NEW_CODE'] = contract['codes']!['NOT_FOUND']!;
    fieldsOf(contract, 'CreateAddressBody')['more?'] = 'text' as never;
    fieldsOf(contract, 'Address')['more'] = 'text' as never;
    (fieldsOf(contract, 'Address')['status']!['enum'] as unknown as string[]).push('new_status');
    (fieldsOf(contract, 'CreateAddressBody')['chain']!['enum'] as unknown as string[]).push('doge');
  });
  t.deepEqual(grown, []);
});

test('ecosystem X3 fault 15: whatever breaks a program of a release is named with its place', (t) => {
  const planted: readonly [what: string, plant: (contract: Loose) => void, named: RegExp][] = [
    [
      'a renamed operation',
      ({ operations }) => rename(operations!, 'createAddress', 'makeAddress'),
      /^createAddress: the operation is gone$/,
    ],
    [
      'another path',
      ({ operations }) => (operations!['getAddress']!['path'] = '/v2' as never),
      /^getAddress: path \/v1\/addresses\/\{id\} became \/v2$/,
    ],
    [
      'another method',
      ({ operations }) => (operations!['archiveAddress']!['method'] = 'PUT' as never),
      /^archiveAddress: method POST became PUT$/,
    ],
    [
      'no key any more',
      ({ operations }) => (operations!['createAddress']!['keyed'] = false as never),
      /^createAddress: it takes no Idempotency-Key/,
    ],
    [
      'one deployment less',
      ({ operations }) => (operations!['createAddress']!['where'] = 'cloud' as never),
      /^createAddress: where both became cloud$/,
    ],
    [
      'another status',
      ({ operations }) => (operations!['createAddress']!['status'] = 202 as never),
      /^createAddress: status 201 became 202$/,
    ],
    [
      'a higher role',
      ({ operations }) => (operations!['getAddress']!['role'] = 'owner' as never),
      /^getAddress: role viewer became owner$/,
    ],
    [
      'for the sandbox alone',
      ({ operations }) => (operations!['createAddress']!['sandboxOnly'] = true as never),
      /^createAddress: it is for the sandbox alone now$/,
    ],
    [
      'a query that is gone',
      ({ operations }) => delete (operations!['listAddresses']!['query']!['fields'] as Loose)['tag?'],
      /^listAddresses query\.tag: the field is gone$/,
    ],
    [
      'a field of a request gone',
      (contract) => delete fieldsOf(contract, 'CreateAddressBody')['label?'],
      /^createAddress body\.label: the field is gone$/,
    ],
    [
      'a field of a request required',
      (contract) => rename(fieldsOf(contract, 'CreateAddressBody'), 'tag?', 'tag'),
      /^createAddress body\.tag: the field is required now$/,
    ],
    [
      'a new field of a request required',
      (contract) => (fieldsOf(contract, 'CreateAddressBody')['more'] = 'text' as never),
      /^createAddress body\.more: a new field is required$/,
    ],
    [
      'a value of a request gone',
      (contract) => (fieldsOf(contract, 'CreateAddressBody')['chain']!['enum'] as unknown as string[]).shift(),
      /^createAddress body\.chain: the value btc is gone$/,
    ],
    [
      'a field of an answer gone',
      (contract) => delete fieldsOf(contract, 'Address')['createdAt'],
      /^createAddress reply\.createdAt: the field is gone$/,
    ],
    [
      'a field of an answer optional',
      (contract) => rename(fieldsOf(contract, 'Address'), 'id', 'id?'),
      /^createAddress reply\.id: the field may be absent now$/,
    ],
    [
      'a field of an answer null',
      (contract) => (fieldsOf(contract, 'Address')['id'] = { any: ['text', 'null'] } as never),
      /^createAddress reply\.id: text became null$/,
    ],
    [
      'another type',
      (contract) => (fieldsOf(contract, 'Balance')['decimals'] = 'text' as never),
      /reply.*\.decimals: integer became text$/,
    ],
    [
      'a value of an answer gone',
      (contract) => (fieldsOf(contract, 'Address')['status']!['enum'] as unknown as string[]).pop(),
      /^createAddress reply\.status: the value archived is gone$/,
    ],
    ['an event gone', ({ events }) => delete events!['deposit_confirmed'], /^deposit_confirmed: the event is gone$/],
    [
      'a field of an event gone',
      (contract) => delete fieldsOf(contract, 'DepositData')['outputIndex'],
      /^deposit_\w+ data\.outputIndex: the field is gone$/,
    ],
    ['a code gone', ({ codes }) => delete codes!['NOT_FOUND'], /^NOT_FOUND: the code is gone$/],
    [
      'another status of a code',
      ({ codes }) => (codes!['NOT_FOUND']!['status'] = 410 as never),
      /^NOT_FOUND: status 404 became 410$/,
    ],
    [
      'details of a code gone',
      ({ codes }) => delete (codes!['INSUFFICIENT_FUNDS']!['details']!['fields'] as Loose)['balance?'],
      /^INSUFFICIENT_FUNDS details\.balance: the field is gone$/,
    ],
  ];
  for (const [what, plant, named] of planted) {
    const breaks = after(plant);
    t.true(
      breaks.some((line) => named.test(line)),
      `${what}: ${JSON.stringify(breaks)}`,
    );
  }
});

test('ecosystem X1 fault 14: a shape keeps what may be null and what may be absent apart', (t) => {
  const shape = (schema: object): Shape => shapeOf(schema);
  t.deepEqual(shape({ anyOf: [{ type: 'string' }, { type: 'null' }] }), { any: ['text', 'null'] });
  t.deepEqual(shape({ type: ['integer', 'null'] }), { any: ['integer', 'null'] });
  t.deepEqual(shape({ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }), {
    fields: { a: 'text', 'b?': 'anything' },
  });
  t.deepEqual(shape({ anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] }), { enum: ['a', 'b'] });
  t.throws(() => shape({ $ref: '#/$defs/other' }), { message: /export the schema by a name/ });
  t.throws(() => shape({ allOf: [] }), { message: /intersection/ });
});

test('ecosystem X3 fault 15: what breaks in a shape that several alternatives share is named, whichever was looked at first', (t) => {
  const contract = (of: Shape): Contract => ({
    ...NOW,
    operations: {},
    codes: {},
    events: { moved: '@Moved' },
    shapes: {
      Moved: {
        any: ['in', 'out'].map((way): Shape => ({ fields: { way: { enum: [way] }, amount: '@Amount' } })),
      },
      Amount: { fields: { units: of, of: { any: ['@Amount', 'null'] } } },
    },
  });
  t.deepEqual(breaksBetween(contract('text'), contract('text')), []);
  t.deepEqual(breaksBetween(contract('text'), contract('integer')), [
    'moved data.amount.units: text became integer',
    'moved data.amount.of.units: text became integer',
  ]);
});
