import test from 'ava';
import fc from 'fast-check';
import { stellar } from '../../../../chains/xlm/network.ts';
import { checkFeeRatio, displacingFee, estimateFee, feeOf } from '../../../../chains/xlm/fee.ts';
import { marketFee } from '../../../../chains/xlm/fee-market.ts';
import { inputsOf } from '../../../support/xlm-inputs.ts';
import { intentOf, must, ours, tank } from '../../../support/xlm-node.ts';

const US = ours(0);
const CAP = stellar.feeCap;

test("M21 the offer is the base fee, in a surge the market's, never above the cap", (t) => {
  const offer = (marketFee: string, baseFee = '100') =>
    must(feeOf(stellar, inputsOf(US.address, { marketFee, baseFee }), 1)).total;
  t.is(offer('100'), 100n);
  t.is(offer('90'), 100n, 'less than the base fee is no offer');
  t.is(offer('701'), 701n);
  t.is(offer((CAP * 9n).toString()), CAP, 'a surge beyond the cap is waited for');
  t.like(feeOf(stellar, inputsOf(US.address, { baseFee: (CAP + 1n).toString() }), 1), { code: 'AMOUNT_CAP_EXCEEDED' });
});

test('M21 what others offer is read where it is told: charged, and in a surge offered', (t) => {
  t.is(
    marketFee({ charged: { p95: '100' }, offered: { p95: '50000' } }, 100),
    100n,
    'no surge: everybody pays the base fee, whatever he offers',
  );
  t.is(marketFee({ charged: { p95: '101' }, offered: { p95: '5000' } }, 100), 5_000n);
  t.is(marketFee({ charged: { p95: '900' }, offered: { p95: '800' } }, 100), 900n);
  t.is(marketFee({ charged: { p95: '900' }, offered: null }, 100), 900n);
  t.throws(
    () => marketFee({ charged: {}, offered: null }, 100),
    { message: /p95/ },
    'G8: no statistics are no free ride',
  );
  t.throws(() => marketFee({ charged: { p95: '200' }, offered: { p95: 'x' } }, 100), { message: /p95/ });
});

test('M21 property: a bump offers ten times the old one for each operation, at least the base fee, at most the cap', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 5_000n }), fc.bigInt({ min: 1n, max: 50_000n }), (old, market) => {
      const fee = displacingFee(stellar, inputsOf(US.address, { marketFee: market.toString() }), old);
      if ('ok' in fee) return t.true(old * 10n > CAP);
      t.is(fee.operations, 2);
      t.is(fee.total, fee.perOperation * 2n);
      t.true(fee.perOperation >= old * 10n && fee.perOperation >= 100n && fee.perOperation <= CAP);
      return undefined;
    }),
  );
});

test('M21 M28 an estimate says what is charged and what is offered; one operation more where somebody else pays', (t) => {
  const inputs = inputsOf(US.address, { marketFee: '500' });
  t.deepEqual(estimateFee(stellar, inputs, intentOf(US)), {
    fee: 100n,
    feeMax: 500n,
    parts: { operations: 1, feePerOperation: '500', baseFee: '100', marketFee: '500' },
  });
  t.like(estimateFee(stellar, { ...inputs, feePayer: tank.address }, intentOf(US)), { fee: 200n, feeMax: 1_000n });
});

test('G29 a fee above the share that the caller allows is refused, to the stroop', (t) => {
  const fee = must(feeOf(stellar, inputsOf(US.address), 1));
  t.is(checkFeeRatio(fee, 100_000n, 10), null);
  t.like(checkFeeRatio(fee, 99_999n, 10), { code: 'AMOUNT_CAP_EXCEEDED', details: { reason: 'fee ratio' } });
  t.is(checkFeeRatio(fee, 1n, undefined), null);
});
