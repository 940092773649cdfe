import test from 'ava';
import { explainRejection, plainText, type Action } from '../../../../chains/btc/rejection.ts';

/** The table of chains.md 4.2, as old and new nodes write it. */
const TABLE: readonly [text: string, code: number, kind: string, action?: Action][] = [
  ['txn-already-in-mempool', -26, 'already_known'],
  ['txn-already-known', -26, 'already_known'],
  ['18: txn-already-in-mempool (code 18)', -26, 'already_known'],
  ['Transaction already in block chain', -27, 'already_known'],
  ['Transaction outputs already in utxo set', -27, 'already_known'],
  ['transaction already in block chain', -27, 'already_known'],
  ['bad-txns-inputs-missingorspent', -25, 'look_up'],
  ['Missing inputs', -25, 'look_up'],
  ['missing-inputs', -25, 'look_up'],
  ['txn-mempool-conflict', -26, 'rejected', 'other_inputs'],
  ['txn-mempool-conflict (code 18)', -26, 'rejected', 'other_inputs'],
  [
    'insufficient fee, rejecting replacement 5a…; new feerate 0.00001000 BTC/kvB <= old feerate 0.00010000 BTC/kvB',
    -26,
    'rejected',
    'reprice',
  ],
  [
    'insufficient fee, rejecting replacement 5a…, less fees than conflicting txs; 0.00000141 < 0.00001410',
    -26,
    'rejected',
    'reprice',
  ],
  [
    'too many potential replacements, rejecting replacement 5a…; too many potential replacements (101 > 100)',
    -26,
    'rejected',
    'other_inputs',
  ],
  ['replacement-adds-unconfirmed, replacement 5a… adds unconfirmed input, idx 1', -26, 'rejected', 'other_inputs'],
  ['bad-txns-spends-conflicting-tx', -26, 'rejected', 'other_inputs'],
  ['min relay fee not met, 0 < 141', -26, 'rejected', 'reprice'],
  ['66: min relay fee not met', -26, 'rejected', 'reprice'],
  ['mempool min fee not met, 141 < 282', -26, 'rejected', 'reprice'],
  ['mempool full', -26, 'rejected', 'reprice'],
  ['64: dust', -26, 'rejected', 'rebuild'],
  ['dust, tx with dust output must be 0-fee', -26, 'rejected', 'rebuild'],
  ['max-fee-exceeded', -25, 'rejected', 'rebuild'],
  ['Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)', -25, 'rejected', 'rebuild'],
  ['absurdly-high-fee, 20000000 > 10000000 (code 256)', -26, 'rejected', 'rebuild'],
  ['bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 59', -26, 'rejected', 'wait_for_maturity'],
  ['too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]', -26, 'rejected', 'wait_for_confirmation'],
  ['too-large-cluster, exceeds limit of 64 transactions', -26, 'rejected', 'wait_for_confirmation'],
  ['non-final', -26, 'behind', 'rebuild'],
  ['64: non-final', -26, 'behind', 'rebuild'],
  ['non-BIP68-final', -26, 'behind', 'rebuild'],
  ['mandatory-script-verify-flag-failed (Script failed an OP_EQUALVERIFY operation)', -26, 'rejected', 'none'],
  ['non-mandatory-script-verify-flag (Witness program hash mismatch)', -26, 'rejected', 'none'],
  ['block-script-verify-flag-failed (Invalid Schnorr signature)', -26, 'rejected', 'none'],
  [
    'mempool-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack element)',
    -26,
    'rejected',
    'none',
  ],
  ['tx-size', -26, 'rejected', 'rebuild'],
  ['scriptpubkey', -26, 'rejected', 'rebuild'],
  ['bad-txns-in-belowout, value in (0.001) < value out (0.002)', -26, 'rejected', 'none'],
  ['TX decode failed. Make sure the tx has at least one input.', -22, 'rejected', 'none'],
];

for (const [text, code, kind, action] of TABLE) {
  test(`4.2 ${code} ${text.slice(0, 60)}: ${kind}${action === undefined ? '' : `, ${action}`}`, (t) => {
    const verdict = explainRejection({ code, message: text });
    t.is(verdict.kind as string, kind);
    if (verdict.kind === 'rejected' || verdict.kind === 'behind') {
      t.is(verdict.code, 'CHAIN_REJECTED');
      t.is(verdict.action, action!);
      t.is(verdict.reason, plainText(text));
    } else t.is(action, undefined);
  });
}

test('4.6 C1-14 a node that is busy, starting or out of reach says nothing about the transaction', (t) => {
  for (const [code, message] of [
    [-28, 'Loading block index…'],
    [-28, 'rpc in warmup'],
    [-9, 'Bitcoin is not connected!'],
    [-10, 'Bitcoin is downloading blocks...'],
    [503, 'http 503'],
    [500, 'http 500'],
    [429, 'http 429'],
    [401, 'http 401'],
    [-32_603, 'internal error'],
    [-32_601, 'Method not found'],
    [-1, 'Work queue depth exceeded'],
    [-31, 'Error: Peer-to-peer functionality missing or disabled'],
  ] as const)
    t.is(explainRejection({ code, message }).kind, 'unknown', message);
});

test('X2 numbers that versions put around a text are cut off; words within it are not', (t) => {
  t.is(plainText('64: Dust (code 64)'), 'dust');
  t.is(plainText('min relay fee not met, 0 < 141'), 'min relay fee not met, 0 < 141');
  t.is(explainRejection({ code: -26, message: '' }).kind, 'unknown');
});
