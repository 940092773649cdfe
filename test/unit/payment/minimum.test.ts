/** From which amounts on payments are taken, and what the settings change of it. payments P20, P21. */
import test from 'ava';
import { MINIMUMS, nativeMinimumOf, sweepFeeOf, tokenMinimumOf } from '../../../actors/payment/minimum.ts';
import { evmUnitCost } from '../../../actors/sweep/evm-cost.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { BuildInputs, ChainModule, Intent } from '../../../chains/chain.ts';
import { estimateFee as btcFee } from '../../../chains/btc/fee.ts';
import { estimateFee as evmFee } from '../../../chains/evm/fee.ts';
import { estimateFee as tronFee } from '../../../chains/tron/fee.ts';
import { readConfig, ConfigurationError } from '../../../supervision/config.ts';
import type { CheckoutChain } from '../../../protocol/slugs.ts';
import { coinOf, inputsOf as btcInputs, RECIPIENT as BTC } from '../../support/btc-inputs.ts';
import { inputsOf as evmInputs, RECIPIENT as EVM } from '../../support/evm-inputs.ts';
import { inputsOf as tronInputs } from '../../support/tron-inputs.ts';

const TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const feeOf = (
  chain: CheckoutChain,
  estimateFee: unknown,
  inputs: BuildInputs,
  address: string,
  isToken = false,
): bigint => {
  const intent = { chain, from: address, fromPath: 'm', to: address, amount: 1n, token: null, tag: null } as Intent;
  const module = { estimateFee } as Pick<ChainModule, 'estimateFee'>;
  const fee = sweepFeeOf(module, networkOf(chain), inputs, intent, isToken);
  if (typeof fee !== 'bigint') throw new Error(fee.message);
  return fee;
};

test('payments P20: a sweep of bitcoin is one input and one output, whatever the tank has', (t) => {
  t.truthy(factsOf('btc'));
  const rate = { estimateSatPerKvb: '10000' };
  const none = feeOf('btc', btcFee, btcInputs({ ...rate, coins: [] }), BTC);
  t.is(none, 1_100n, '110 vbytes at ten satoshi each');
  const dust = Array.from({ length: 40 }, () => coinOf(600n));
  t.is(feeOf('btc', btcFee, btcInputs({ ...rate, coins: dust }), BTC), none);
});

test('payments P20: an EVM transfer has its L1 part, a token the transfer that funds it, TRON its bandwidth', (t) => {
  const market = { baseFeePerGas: '80', tipPerGas: '3' };
  const plain = feeOf('eth', evmFee, evmInputs(market), EVM),
    rolled = feeOf('base', evmFee, evmInputs({ ...market, l1FeeUpperBound: '1000' }), EVM);
  t.is(rolled, feeOf('base', evmFee, evmInputs(market), EVM) + 1_500n);
  t.true(plain >= 21_000n * 83n);
  const { fundingDepth } = networkOf('eth');
  t.is(
    feeOf('eth', evmFee, evmInputs(market), EVM, true),
    evmUnitCost({ baseFee: 80n, tip: 3n, l1Reserve: 0n, fundingDepth: fundingDepth ?? 1 }),
  );
  const bandwidth = feeOf('tron', tronFee, tronInputs(), TRON);
  t.true(bandwidth > 0n && bandwidth < 2_000_000n, `${bandwidth}`);
  t.true(feeOf('tron', tronFee, tronInputs(), TRON, true) > bandwidth);
});

test('payments P21: the minimum is ten times the fee, never dust, rounded up; tokens by chain', (t) => {
  t.is(nativeMinimumOf(MINIMUMS, 'eth', 1n), 10n);
  t.is(nativeMinimumOf(MINIMUMS, 'eth', 0n), 1n);
  t.is(nativeMinimumOf(MINIMUMS, 'btc', 1n), 294n, 'F47: what no node relays is not asked for');
  t.is(nativeMinimumOf({ ...MINIMUMS, feeRatioBps: 300 }, 'eth', 10n), 334n);
  t.deepEqual(
    (['eth', 'bsc', 'polygon', 'avax', 'base', 'tron'] as const).map((chain) =>
      tokenMinimumOf(MINIMUMS, chain, 'USDT', 6),
    ),
    [10_000_000n, 1_000_000n, 1_000_000n, 1_000_000n, 1_000_000n, 5_000_000n],
  );
  t.is(tokenMinimumOf(MINIMUMS, 'eth', 'WETH', 18), 0n, 'nothing compares it with a fee');
});

test('payments P21: a deployment sets the ratio and the minimum of each chain', (t) => {
  const good = { DATABASE_URL: 'postgres://flock_app:word@127.0.0.1:5432/flock', SECRET_KEY: '11'.repeat(32) };
  t.like(readConfig(good), {
    CHECKOUT_MIN_FEE_RATIO_BPS: 1_000,
    CHECKOUT_TOKEN_MINIMUM_ETH: '10',
    CHECKOUT_TOKEN_MINIMUM_TRON: '5',
  });
  const set = readConfig({ ...good, CHECKOUT_MIN_FEE_RATIO_BPS: '250', CHECKOUT_TOKEN_MINIMUM_ETH: '0.5' });
  t.like(set, { CHECKOUT_MIN_FEE_RATIO_BPS: 250, CHECKOUT_TOKEN_MINIMUM_ETH: '0.5' });
  for (const wrong of ['1e2', '-1', '01', '0.001', '1,5'])
    t.throws(() => readConfig({ ...good, CHECKOUT_TOKEN_MINIMUM_ETH: wrong }), {
      instanceOf: ConfigurationError,
      message: /CHECKOUT_TOKEN_MINIMUM_ETH/,
    });
});
