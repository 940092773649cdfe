import test from 'ava';
import fc from 'fast-check';
import { isRefusal } from '../../../protocol/errors.ts';
import { AMOUNT_DIGITS_MAX, formatAmount, parseAmount, parseDecimal } from '../../../protocol/money.ts';

const UINT256_MAX = (1n << 256n) - 1n;
const decimals = fc.integer({ min: 0, max: 36 });
const amounts = fc.bigInt({ min: 0n, max: UINT256_MAX });

test('§2.2 text and amount of the smallest unit are the same thing', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: UINT256_MAX }), (amount) => parseAmount(amount.toString()) === amount),
    ),
  );
});

test('§2.2 what is displayed is read back exactly, for any decimals', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(amounts, decimals, (amount, places) => {
        const text = formatAmount(amount, places);
        return text.length > AMOUNT_DIGITS_MAX + 1
          ? isRefusal(parseDecimal(text, places))
          : parseDecimal(text, places) === amount;
      }),
    ),
  );
});

test('§2.2 "more decimal places than the asset carries is refused, not rounded"', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 30 }), (whole, places) => {
        const tooFine = parseDecimal(`${whole}.${'0'.repeat(places)}1`, places);
        return isRefusal(tooFine) && tooFine.code === 'INVALID_AMOUNT';
      }),
    ),
  );
  t.is(parseDecimal('1.5', 6), 1_500_000n);
  t.is(parseDecimal('0.000001', 6), 1n);
  t.is(parseDecimal('0', 6), 0n, 'a decimal may be zero; who needs more than zero says so');
});

test('decisions 2: zero, signs, fractions, exponents and long numbers are INVALID_AMOUNT', (t) => {
  for (const text of [
    '',
    '0',
    '00',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '1,000',
    '１',
    'NaN',
    'Infinity',
    '9'.repeat(79),
  ]) {
    const refused = parseAmount(text);
    t.true(isRefusal(refused) && refused.code === 'INVALID_AMOUNT', text);
  }
  for (const text of ['', '.5', '1.', '-1', '1e3', '00.1', '01', '1.2.3', ' 1'])
    t.true(isRefusal(parseDecimal(text, 18)), text);
});

test('whatever the text, the answer is an amount or a refusal that does not repeat a long text', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const parsed = parseAmount(text);
        return isRefusal(parsed)
          ? String(parsed.details['amount']).length <= 100
          : parsed > 0n && parsed.toString() === text;
      }),
    ),
  );
});

test('negative amounts are displayed with their sign, as reversals are', (t) => {
  t.is(formatAmount(-1_500_000n, 6), '-1.5');
  t.is(formatAmount(-1n, 0), '-1');
  t.is(formatAmount(0n, 18), '0');
});
