/** F72: what a withdrawal paid is exact on every chain, also where the node does not say it. */
import test from 'ava';
import fc from 'fast-check';
import { exactFee } from '../../../chains/btc/fee.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { buildUnsigned } from '../../../chains/btc/unsigned.ts';
import type { Intent, Outcome } from '../../../chains/chain.ts';
import { base, eth } from '../../../chains/evm/network.ts';
import { outcomesIn } from '../../../chains/evm/transfers.ts';
import { feePaid as xrpFeePaid } from '../../../chains/xrp/transfers.ts';
import { feePaid } from '../../../chain-watchers/follow/content.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { coinOf, inputsOf, RECIPIENT, SENDER } from '../../support/btc-inputs.ts';
import { addressOf, txidOf, unitOfPlans, type TransactionPlan } from '../../support/evm-blocks.ts';

test('found F72 btc: a payload pays its coins less its outputs, which is the fee that was built and signed', (t) => {
  fc.assert(
    fc.property(fc.bigInt(30_000n, 10n ** 10n), fc.bigInt(1_000n, 10n ** 10n), (coin, amount) => {
      const intent: Intent = {
        chain: 'btc',
        from: SENDER.address,
        fromPath: SENDER.path,
        to: RECIPIENT,
        amount,
        token: null,
        tag: null,
      };
      const unsigned = buildUnsigned(bitcoin, inputsOf({ coins: [coinOf(coin), coinOf(coin)] }), intent, null);
      if (isRefusal(unsigned)) return;
      t.is(exactFee(unsigned.payload), unsigned.feeMax);
    }),
    { numRuns: 30 },
  );
  t.is(exactFee('no payload'), null);
});

const row = (versions: { txid: string; payload: string }[]) =>
  ({ versions: versions.map((one) => ({ ...one, signedPayload: '' })) }) as unknown as WithdrawalRow;
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  txid: 'b',
  success: true,
  reason: null,
  fee: null,
  ...more,
});

test("found F72: the chain's own word counts, then the bytes of the version that landed; nothing is made up", (t) => {
  const module = { exactFee: (payload: string) => BigInt(payload) },
    versions = row([
      { txid: 'a', payload: '100' },
      { txid: 'b', payload: '200' },
    ]);
  t.is(feePaid(module, versions, outcome({ fee: 7n })), '7');
  t.is(feePaid(module, versions, outcome()), '200');
  t.is(feePaid(module, versions, outcome({ txid: 'a' })), '100', 'an older version won');
  t.is(feePaid(module, versions, outcome({ txid: 'c' })), null);
  t.is(feePaid({}, versions, outcome()), null);
  t.is(feePaid({ exactFee: () => 0n }, versions, outcome()), '0', 'zero is a fee');
});

const PLAN: TransactionPlan = { from: addressOf(1), to: addressOf(2), value: 1n };

/** What the outcome of a block's only transaction pays, with fields of the receipt and of the transaction changed. */
function evmFee(network: typeof eth, receipt: object, transaction: object = {}): bigint | null {
  const unit = unitOfPlans(network, [PLAN]),
    { block, receipts } = unit.raw;
  const raw = {
    block: { ...block, transactions: [{ ...block.transactions[0]!, ...transaction }] },
    receipts: [{ ...receipts[0]!, gasUsed: '0x5208', ...receipt }],
  };
  return outcomesIn(network, { ...unit, raw }, new Set([txidOf(PLAN)]))[0]!.fee;
}

test('found F72 evm: gas × price, from the transaction where the receipt has none; on base with the parts of L1 and of the operator', (t) => {
  t.is(evmFee(eth, { effectiveGasPrice: '0xa' }), 210_000n);
  t.is(
    evmFee(eth, { effectiveGasPrice: undefined }, { gasPrice: '0xb' }),
    231_000n,
    'a node whose receipts have no price',
  );
  t.is(evmFee(eth, { effectiveGasPrice: undefined }), null);
  t.is(evmFee(base, { effectiveGasPrice: '0xa', l1Fee: '0x7' }), 210_007n);
  t.is(
    evmFee(base, { effectiveGasPrice: '0xa', l1Fee: '0x7', operatorFeeScalar: '0xf4240', operatorFeeConstant: '0x3' }),
    210_007n + 21_000n + 3n,
    'Isthmus',
  );
  t.is(
    evmFee(base, {
      effectiveGasPrice: '0xa',
      l1Fee: '0x7',
      operatorFeeScalar: '0x2',
      operatorFeeConstant: '0x3',
      daFootprintGasScalar: '0x1',
    }),
    210_007n + 4_200_000n + 3n,
    'Jovian',
  );
});

test('found F72 xrp: a sender that had less than its fee paid what it had', (t) => {
  const root = {
    ModifiedNode: {
      LedgerEntryType: 'AccountRoot',
      FinalFields: { Account: 'rP', Balance: '0' },
      PreviousFields: { Balance: '7' },
    },
  };
  t.is(
    xrpFeePaid({ fields: { Account: 'rP', Fee: '12' }, meta: { AffectedNodes: [root] }, result: 'tecINSUFF_FEE' }),
    7n,
  );
  t.is(xrpFeePaid({ fields: { Account: 'rP', Fee: '12' }, meta: { AffectedNodes: [] }, result: 'tesSUCCESS' }), 12n);
});
