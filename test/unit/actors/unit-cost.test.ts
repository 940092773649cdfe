import test from 'ava';
import { evmUnitCost, maxFeeOf, TOKEN_GAS_USUAL } from '../../../actors/sweep/evm-cost.ts';
import { tankFigures, unitCostOf } from '../../../actors/sweep/unit-cost.ts';
import { networkOf } from '../../../chains/registry.ts';
import { inputsOf as btcInputs } from '../../support/btc-inputs.ts';
import { inputsOf as evmInputs } from '../../support/evm-inputs.ts';
import { inputsOf as solInputs } from '../../support/sol-inputs.ts';
import { inputsOf as tronInputs } from '../../support/tron-inputs.ts';
import { inputsOf as xlmInputs } from '../../support/xlm-inputs.ts';
import { inputsOf as xrpInputs } from '../../support/xrp-inputs.ts';

test('treasury W8: gas on evm covers the rise while a funding becomes deep enough, with both L1 parts', (t) => {
  const market = { baseFee: 80n, tip: 3n, l1Reserve: 7n, fundingDepth: 0 };
  t.is(maxFeeOf(market), 93n, 'one rise');
  t.is(maxFeeOf({ ...market, fundingDepth: 3 }), 132n, 'four rises, rounded up');
  t.is(maxFeeOf({ ...market, fundingDepth: 15 }), 132n, 'and no more');
  t.is(evmUnitCost(market), (21_000n + TOKEN_GAS_USUAL) * 93n + 14n);
});

test('treasury W8: the unit cost of each family, and none where what is swept pays for itself', (t) => {
  const eth = networkOf('eth');
  const market = { baseFee: 80n, tip: 3n, l1Reserve: 0n, fundingDepth: eth.fundingDepth! };
  t.is(unitCostOf(eth, evmInputs({ baseFeePerGas: '80', tipPerGas: '3' })), evmUnitCost(market));
  const priced = evmInputs({ baseFeePerGas: '0', tipPerGas: '0', gasPrice: '80', l1FeeUpperBound: '9' });
  t.is(unitCostOf(eth, priced), evmUnitCost({ ...market, tip: 0n, l1Reserve: 9n }), 'by the price of the node');
  // 1 TRX and 0.1 TRX of a new account, 65,000 energy at 100 sun, 613 bytes at 1,000 sun.
  t.is(unitCostOf(networkOf('tron'), tronInputs()), 1_000_000n + 100_000n + 6_500_000n + 613_000n);
  t.is(unitCostOf(networkOf('sol'), solInputs({ unitPrice: '150' })), 10_002n, 'rounded up');
  t.is(unitCostOf(networkOf('xlm'), xlmInputs('G', { baseFee: '100', marketFee: '250' })), 500n);
  t.is(unitCostOf(networkOf('xlm'), xlmInputs('G', { baseFee: '100', marketFee: '50' })), 200n);
  t.is(unitCostOf(networkOf('xrp'), xrpInputs()), null);
  t.is(unitCostOf(networkOf('btc'), btcInputs()), null);
});

test('treasury W7: a tank is low below its own bound, or below twenty sweeps; what is left is whole sweeps', (t) => {
  t.deepEqual(tankFigures(1_999n, 100n, null), { lowBalance: 2_000n, isLow: true, sweepsRemaining: 19n });
  t.deepEqual(tankFigures(2_000n, 100n, null), { lowBalance: 2_000n, isLow: false, sweepsRemaining: 20n });
  t.deepEqual(tankFigures(99n, 100n, 50n), { lowBalance: 50n, isLow: false, sweepsRemaining: 0n });
  t.deepEqual(tankFigures(5n, null, null), { lowBalance: null, isLow: null, sweepsRemaining: null });
  t.deepEqual(tankFigures(5n, null, 6n), { lowBalance: 6n, isLow: true, sweepsRemaining: null });
});
