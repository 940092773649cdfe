import test from 'ava';
import fc from 'fast-check';
import { decode, encode } from 'ripple-binary-codec';
import { issuedAmountOf } from '../../../../chains/xrp/currency.ts';
import {
  isIssuable,
  issuedText,
  RATE_MAX,
  RATE_ONE,
  roundedDown,
  roundedUp,
  withoutTransferFee,
  withTransferFee,
} from '../../../../chains/xrp/issued-amount.ts';

const units = fc.bigInt({ min: 1n, max: 10n ** 60n });
const rates = fc.bigInt({ min: RATE_ONE, max: RATE_MAX });

test('R11 amounts that are sent keep 15 significant digits, rounded down, never up', (t) => {
  t.is(roundedDown(123_456_789_012_345_678n), 123_456_789_012_345_000n);
  t.is(roundedUp(123_456_789_012_345_678n), 123_456_789_012_346_000n);
  t.is(roundedDown(999_999_999_999_999n), 999_999_999_999_999n);
  t.is(roundedUp(9_999_999_999_999_999n), 10_000_000_000_000_000n);
  fc.assert(
    fc.property(units, (amount) => {
      const down = roundedDown(amount),
        up = roundedUp(amount);
      t.true(down <= amount && amount <= up && down > 0n);
      t.true(down.toString().replace(/0+$/, '').length <= 15 && up.toString().replace(/0+$/, '').length <= 15);
      t.is(roundedDown(down), down);
      t.is(roundedUp(down), down);
    }),
  );
});

test('R11 R16 G4 the text of an amount is read back exactly, here and by the codec of the ledger', (t) => {
  t.deepEqual([1n, 10n ** 15n, 1_500_000_000_000_000n, 10n ** 40n].map(issuedText), [
    '0.000000000000001',
    '1',
    '1.5',
    '10000000000000000000000000',
  ]);
  fc.assert(
    fc.property(units, (amount) => {
      const sent = roundedDown(amount),
        text = issuedText(sent);
      t.is(issuedAmountOf(text), sent);
      const { Amount } = decode(
        encode({
          TransactionType: 'Payment',
          Amount: { currency: 'USD', issuer: 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De', value: text },
        }),
      ) as { Amount: { value: string } };
      t.is(issuedAmountOf(Amount.value), sent);
    }),
  );
});

test('R11 what the ledger cannot hold is no amount', (t) => {
  t.deepEqual([0n, -1n, 1_234_567_890_123_456n, 10n ** 112n].map(isIssuable), [false, false, false, false]);
  t.true(isIssuable(9_999_999_999_999_990n * 10n ** 95n));
});

test("R28 what must be sent so that an amount arrives covers the issuer's share, and no digit more", (t) => {
  t.is(withTransferFee(10n ** 16n, 1_002_000_000n), 10_020_000_000_000_000n);
  t.is(withTransferFee(1n, RATE_MAX), 2n);
  fc.assert(
    fc.property(units, rates, (amount, rate) => {
      const sent = withTransferFee(roundedDown(amount), rate);
      t.true(sent * RATE_ONE >= roundedDown(amount) * rate);
      t.true(sent <= roundedUp(roundedUp((roundedDown(amount) * rate) / RATE_ONE) + 1n));
    }),
  );
});

test('R28 a send-all of a token sends what can be sent: what arrives with its share is never above what is held', (t) => {
  t.is(withoutTransferFee(10_020_000_000_000_000n, 1_002_000_000n), 10n ** 16n);
  t.is(withoutTransferFee(0n, RATE_ONE), 0n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), rates, (holding, rate) => {
      const amount = withoutTransferFee(holding, rate);
      t.true(amount >= 0n && (amount === 0n || withTransferFee(amount, rate) <= holding));
      t.true(amount === 0n || amount * rate >= (holding * RATE_ONE * 99n) / 100n || holding < 10_000n);
    }),
  );
});
