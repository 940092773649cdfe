import test from 'ava';
import fc from 'fast-check';
import {
  allocate,
  chainNextOf,
  counterKey,
  held,
  holdOf,
  limitOf,
  IN_FLIGHT_LIMITS,
  released,
  replayKeyOf,
  waitingIn,
} from '../../../actors/outgoing/counters.ts';
import type { Counter, InFlight } from '../../../model/account/outgoing.ts';

const flight = (id: string, stage: InFlight['stage'] = 'signed'): InFlight => ({ id, stage });
const counter = (next: string | null, free: string[], inFlight: Record<string, InFlight>): Counter => ({
  next,
  free,
  inFlight,
});

test('V39 allocation: freed values first, else the larger of own and chain, never one in flight', (t) => {
  const cases: [Counter | undefined, bigint, string, string, string[]][] = [
    [undefined, 5n, '5', '6', []],
    [counter('9', [], { 8: flight('a') }), 5n, '9', '10', []],
    [counter('9', [], { 8: flight('a') }), 12n, '12', '13', []],
    [counter('9', ['7', '6'], { 8: flight('a') }), 5n, '6', '9', ['7']],
    [counter('9', ['6', '7'], { 8: flight('a') }), 7n, '7', '9', []], // the chain has passed 6
    [counter('9', ['6'], { 8: flight('a') }), 8n, '9', '10', []],
    [counter('9', ['8'], { 8: flight('a') }), 5n, '9', '10', []],
    [counter('5', [], { 5: flight('a'), 6: flight('b') }), 5n, '7', '8', []],
    [counter('2', [], { 4: flight('a') }), 4n, '5', '6', []],
  ];
  for (const [before, chainNext, value, next, free] of cases) {
    t.deepEqual(allocate(before, chainNext), { value, next, free });
  }
});

test('M19 a Stellar sequence has 64 bits and is never a number', (t) => {
  const sequence = 9_007_199_254_740_993n;
  t.deepEqual(allocate(undefined, sequence), { value: '9007199254740993', next: '9007199254740994', free: [] });
  t.deepEqual(replayKeyOf('xlm', '9007199254740993'), { kind: 'sequence', value: '9007199254740993' });
  t.deepEqual(replayKeyOf('evm', '7'), { kind: 'nonce', value: 7 });
  t.is(replayKeyOf('tron', '7'), null);
});

test('B19 outpoints are held as they are, what only expires holds nothing', (t) => {
  t.deepEqual(holdOf('btc', 'bc1q', { kind: 'outpoints', value: ['aa:0', 'bb:1'] }), {
    key: 'btc:bc1q',
    values: ['aa:0', 'bb:1'],
  });
  t.is(holdOf('sol', 'x', { kind: 'expiry', value: '9' }), null);
});

test('values are released by whoever holds them, and only the last one out drops the entry', (t) => {
  const key = counterKey('eth', '0x1');
  const two = held(
    held({}, { key, values: ['5'] }, flight('a'), { next: '6', free: [] }),
    { key, values: ['6'] },
    flight('b'),
    { next: '7', free: [] },
  );
  t.deepEqual(released(two, { key, values: ['5'] }, 'b', true), two);
  const freed = released(two, { key, values: ['5'] }, 'a', true);
  t.deepEqual(freed, { [key]: counter('7', ['5'], { 6: flight('b') }) });
  t.deepEqual(released(two, { key, values: ['5'] }, 'a', false), { [key]: counter('7', [], { 6: flight('b') }) });
  t.deepEqual(released(freed, { key, values: ['6'] }, 'b', true), {});
  t.deepEqual(released({}, { key, values: ['6'] }, 'b', true), {});
});

test('V40, R21, M19 what waits outside of a block counts, by purpose and family', (t) => {
  t.deepEqual(
    waitingIn(
      counter('9', [], { 5: flight('a', 'included'), 6: flight('b'), 7: flight('b'), 8: flight('c', 'built') }),
    ).map(({ id }) => id),
    ['b', 'c'],
  );
  const limits = (['deposit', 'gas_tank', 'treasury'] as const).map((purpose) =>
    (['evm', 'xrp', 'xlm', 'btc'] as const).map((family) => limitOf(IN_FLIGHT_LIMITS, purpose, family)),
  );
  t.deepEqual(
    limits,
    [
      [16, 10, 1, 25],
      [16, 10, 1, 25],
      [16, 10, 1, 25],
    ],
    'found F43: any issued address is a hot wallet',
  );
});

test('found F57: no node talks a sender back onto a value that a block of the window holds', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 2n ** 63n),
      fc.bigInt(0n, 2n ** 63n),
      fc.nat(10_000),
      fc.nat(10_000),
      fc.nat(300),
      (told, used, height, readAtHeight, window) => {
        const next = chainNextOf(told, readAtHeight, { value: String(used), height }, window);
        t.true(next >= told);
        if (height >= readAtHeight - window) t.true(next > used);
        else t.is(next, told);
        t.is(chainNextOf(told, readAtHeight, null, window), told);
      },
    ),
  );
});

test('found F83: a counter that was read from rows gives no value that was used or is held, and fills each gap', (t) => {
  const key = counterKey('xrp', 'r1');
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 5, max: 30 }), { minLength: 2, maxLength: 10 }),
      fc.array(fc.boolean(), { maxLength: 10 }),
      (values, ends) => {
        const sorted = values.toSorted((a, b) => a - b);
        // As a load composes it; blocks use values in their order, while each build still has what the chain said at
        // first.
        let counters: Record<string, Counter> = {
          [key]: counter('0', [], Object.fromEntries(sorted.map((value) => [value, flight(`t${value}`)]))),
        };
        const used = sorted.slice(0, Math.min(ends.length, sorted.length - 1));
        for (const value of used) counters = released(counters, { key, values: [String(value)] }, `t${value}`, false);
        const first = used.length === 0 ? 5 : used.at(-1)! + 1,
          held = new Set(sorted);
        for (let builds = 0; builds < 12; builds += 1) {
          const { value, next, free } = allocate(counters[key], 5n);
          let expected = first;
          while (held.has(expected)) expected += 1;
          t.is(Number(value), expected);
          held.add(expected);
          counters = { [key]: { next, free, inFlight: { ...counters[key]!.inFlight, [value]: flight(`t${value}`) } } };
        }
      },
    ),
  );
});
