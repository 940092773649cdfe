/** What the Stellar stand-in, by the SDK, makes of envelopes and results, held to how we read them. */
import test from 'ava';
import fc from 'fast-check';
import {
  AccountMergeResult,
  ChangeTrustResult,
  ClaimClaimableBalanceResult,
  CreateAccountResult,
  OperationResult,
  OperationResultTr,
  PathPaymentStrictReceiveResult,
  PathPaymentStrictSendResult,
  PaymentResult,
  TransactionResult,
  TransactionResultExt,
  TransactionResultResult,
} from '@stellar/stellar-sdk/xdr';
import { stellar } from '../../chains/xlm/network.ts';
import { sandboxOf } from '../../chains/sandbox-networks.ts';
import { codesOf } from '../../chains/xlm/result-codes.ts';
import { readSigned } from '../../chains/xlm/signed.ts';
import { StellarLedger } from '../../developer/stand-ins/xlm/ledger.ts';
import { creation, envelopeOf, payment, person, settle } from '../../developer/stand-ins/xlm/people.ts';
import { resultCodesOf } from '../../developer/stand-ins/xlm/result-codes.ts';

const resultOf = (result: TransactionResultResult) =>
  new TransactionResult({ feeCharged: 100n, result, ext: TransactionResultExt.v0() });

test("what a refused payment is called is the same to the stand-in, by Horizon's own list, and to us", (t) => {
  const rows: readonly (readonly [result: OperationResult, word: string])[] = [
    ...(
      [
        [PaymentResult.paymentMalformed(), 'op_malformed'],
        [PaymentResult.paymentUnderfunded(), 'op_underfunded'],
        [PaymentResult.paymentSrcNoTrust(), 'op_src_no_trust'],
        [PaymentResult.paymentSrcNotAuthorized(), 'op_src_not_authorized'],
        [PaymentResult.paymentNoDestination(), 'op_no_destination'],
        [PaymentResult.paymentNoTrust(), 'op_no_trust'],
        [PaymentResult.paymentNotAuthorized(), 'op_not_authorized'],
        [PaymentResult.paymentLineFull(), 'op_line_full'],
        [PaymentResult.paymentNoIssuer(), 'op_no_issuer'],
        [PaymentResult.paymentSuccess(), 'op_success'],
      ] as const
    ).map(([result, word]) => [OperationResult.opInner(OperationResultTr.payment(result)), word] as const),
    ...(
      [
        [CreateAccountResult.createAccountAlreadyExist(), 'op_already_exists'],
        [CreateAccountResult.createAccountLowReserve(), 'op_low_reserve'],
      ] as const
    ).map(([result, word]) => [OperationResult.opInner(OperationResultTr.createAccount(result)), word] as const),
    ...(
      [
        [AccountMergeResult.accountMergeNoAccount(), 'op_no_account'],
        [AccountMergeResult.accountMergeSeqnumTooFar(), 'op_seq_num_too_far'],
        [AccountMergeResult.accountMergeHasSubEntries(), 'op_has_sub_entries'],
        [AccountMergeResult.accountMergeIsSponsor(), 'op_is_sponsor'],
      ] as const
    ).map(([result, word]) => [OperationResult.opInner(OperationResultTr.accountMerge(result)), word] as const),
    [
      OperationResult.opInner(OperationResultTr.changeTrust(ChangeTrustResult.changeTrustInvalidLimit())),
      'op_invalid_limit',
    ],
    [
      OperationResult.opInner(
        OperationResultTr.claimClaimableBalance(ClaimClaimableBalanceResult.claimClaimableBalanceDoesNotExist()),
      ),
      'op_does_not_exist',
    ],
    [
      OperationResult.opInner(
        OperationResultTr.pathPaymentStrictSend(PathPaymentStrictSendResult.pathPaymentStrictSendUnderDestmin()),
      ),
      'op_under_dest_min',
    ],
    [
      OperationResult.opInner(
        OperationResultTr.pathPaymentStrictReceive(
          PathPaymentStrictReceiveResult.pathPaymentStrictReceiveOverSendmax(),
        ),
      ),
      'op_over_source_max',
    ],
    [OperationResult.opNoAccount(), 'op_no_source_account'],
    [OperationResult.opNotSupported(), 'op_not_supported'],
  ];
  for (const [operation, word] of rows) {
    const result = resultOf(TransactionResultResult.txFailed([operation]));
    t.deepEqual(resultCodesOf(result), { transaction: 'tx_failed', operations: [word] });
    t.deepEqual(codesOf(result), { transaction: 'tx_failed', inner: null, operations: [word] });
  }
  for (const name of [
    'txTooEarly',
    'txTooLate',
    'txMissingOperation',
    'txBadSeq',
    'txBadAuth',
    'txInsufficientBalance',
    'txNoAccount',
    'txInsufficientFee',
    'txBadAuthExtra',
    'txBadSponsorship',
  ] as const) {
    const result = resultOf(TransactionResultResult[name]());
    t.deepEqual(resultCodesOf(result), { transaction: codesOf(result).transaction });
  }
});

test("property: an envelope that our reader takes the SDK takes too, under the same hash; F10: a sandbox signature is nobody's", (t) => {
  const ledger = new StellarLedger(),
    payer = person(21),
    shop = person(22);
  for (const one of [payer, shop]) settle(ledger, ledger.root, [creation(one.publicKey(), 1_000_000_000n)]);
  const honest = envelopeOf(ledger, payer, [payment(shop.publicKey(), 5n)], { maxTime: 1_800_000_000 }),
    bytes = Buffer.from(honest, 'base64');
  const { hash } = ledger.submit(honest);
  t.false('ok' in readSigned(stellar, { chain: 'xlm', payload: honest, txid: hash } as never));
  ledger.dropQueue();
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, by) => {
      const changed = Buffer.from(bytes.map((byte, n) => (n === at ? byte ^ by : byte))).toString('base64');
      const isOurs = !('ok' in readSigned(stellar, { chain: 'xlm', payload: changed, txid: hash } as never));
      t.is(isOurs, by === 0);
      const theirs = (() => {
        try {
          return ledger.submit(changed);
        } catch {
          return null;
        }
      })();
      t.is(theirs?.status === 'PENDING', isOurs);
      if (isOurs) t.is(theirs!.hash, hash);
      ledger.dropQueue();
    }),
    { numRuns: 150, examples: [[0, 0]] },
  );
  const elsewhere = new StellarLedger({ passphrase: sandboxOf(stellar).identity });
  for (const one of [payer, shop]) settle(elsewhere, elsewhere.root, [creation(one.publicKey(), 1_000_000_000n)]);
  const foreign = ledger.submit(
    envelopeOf(elsewhere, payer, [payment(shop.publicKey(), 5n)], {
      sequence: ledger.state.account(payer.publicKey())!.sequence + 1n,
    }),
  );
  t.is(foreign.status === 'ERROR' ? foreign.result.result.type : foreign.status, 'txBadAuth');
});
