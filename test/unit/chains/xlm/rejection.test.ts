import test from 'ava';
import { TransactionResult } from '@stellar/stellar-sdk/xdr';
import { explainCodes, explainError, explainStatus } from '../../../../chains/xlm/rejection.ts';
import { codesOf } from '../../../../chains/xlm/result-codes.ts';
import { decodeXdr } from '../../../../chains/xlm/xdr.ts';
import { vector } from '../../../support/vectors.ts';

const of = (transaction: string, operations: string[] = [], inner: string | null = null) =>
  explainCodes({ transaction, inner, operations });
const ofOperation = (code: string) => of('tx_failed', ['op_success', code, 'op_inner']);

type Row = readonly [codes: readonly string[], kind: string, code?: string, action?: string];

/** The table of chains.md 9.2, row by row: class, then the code and what would be accepted. */
const TRANSACTIONS: readonly Row[] = [
  [['tx_bad_seq', 'tx_too_late', 'tx_success'], 'look_up'],
  [['tx_internal_error'], 'unknown'],
  [
    [
      'tx_too_early',
      'tx_missing_operation',
      'tx_bad_auth',
      'tx_bad_auth_extra',
      'tx_bad_minseq_age_or_gap',
      'tx_soroban_invalid',
    ],
    'rejected',
    'CHAIN_REJECTED',
    'none',
  ],
  [['tx_malformed', 'tx_not_supported', 'tx_bad_sponsorship'], 'rejected', 'CHAIN_REJECTED', 'none'],
  [['tx_insufficient_fee'], 'rejected', 'CHAIN_REJECTED', 'reprice'],
  [['tx_insufficient_balance'], 'rejected', 'INSUFFICIENT_GAS', 'fund'],
  [['tx_no_source_account'], 'rejected', 'CHAIN_REJECTED', 'fund'],
];
const OPERATIONS: readonly Row[] = [
  [['op_underfunded'], 'rejected', 'INSUFFICIENT_FUNDS', 'fund'],
  [['op_low_reserve'], 'rejected', 'INSUFFICIENT_RESERVE', 'fund'],
  [['op_no_trust'], 'rejected', 'DESTINATION_OPT_IN_REQUIRED', 'open_line'],
  [['op_src_no_trust'], 'rejected', 'INSUFFICIENT_FUNDS', 'open_line'],
  [['op_no_destination'], 'rejected', 'DESTINATION_OPT_IN_REQUIRED', 'fund_destination'],
  [
    ['op_line_full', 'op_no_issuer', 'op_too_few_offers', 'op_over_source_max', 'op_under_dest_min'],
    'rejected',
    'CHAIN_REJECTED',
    'none',
  ],
  [['op_not_authorized', 'op_src_not_authorized'], 'rejected', 'CHAIN_REJECTED', 'ask_issuer'],
  [['op_already_exists'], 'rejected', 'CHAIN_REJECTED', 'rebuild'],
  [
    ['op_has_sub_entries', 'op_immutable_set', 'op_is_sponsor', 'op_seq_num_too_far', 'op_dest_full', 'op_no_account'],
    'rejected',
    'CHAIN_REJECTED',
    'none',
  ],
];

for (const [rows, explain] of [
  [TRANSACTIONS, of],
  [OPERATIONS, ofOperation],
] as const) {
  for (const [codes, kind, code, action] of rows) {
    for (const name of codes) {
      test(`9.2 part 3 ${name} is ${kind}${code === undefined ? '' : ` ${code}`}`, (t) => {
        const verdict = explain(name);
        t.is(verdict.kind, kind as never);
        if (verdict.kind === 'rejected') t.like(verdict, { code, action, reason: name });
        if (verdict.kind === 'unknown' || verdict.kind === 'look_up') t.is(verdict.reason, name);
      });
    }
  }
}

test('9.2 PENDING, DUPLICATE and TRY_AGAIN_LATER; ERROR and unknown words are told by something else', (t) => {
  t.deepEqual(
    ['PENDING', 'DUPLICATE', 'TRY_AGAIN_LATER'].map((word) => explainStatus(word)?.kind),
    ['accepted', 'already_known', 'unknown'],
  );
  for (const word of ['ERROR', 'SOMETHING_NEW', 'pending', 'toString', '__proto__'])
    t.is(explainStatus(word), null, word);
});

test('9.2 tx_fee_bump_inner_failed: the inner result counts', (t) => {
  const inner = (code: string, operations: string[] = []) => of('tx_fee_bump_inner_failed', operations, code);
  t.like(inner('tx_failed', ['op_underfunded']), { kind: 'rejected', code: 'INSUFFICIENT_FUNDS', needs: 'balance' });
  t.is(inner('tx_bad_seq').kind, 'look_up');
  t.is(inner('tx_too_late').kind, 'look_up');
  t.like(inner('tx_bad_auth'), { kind: 'rejected', reason: 'tx_bad_auth' });
});

test('9.2 what decides between two codes is said: the balance for a shortage, the asset for an account that is not there', (t) => {
  t.like(ofOperation('op_underfunded'), { needs: 'balance' });
  t.like(ofOperation('op_no_destination'), { needs: 'asset' });
  t.is((ofOperation('op_low_reserve') as { needs?: string }).needs, undefined);
});

test('found F22 X2 a code without a row proves nothing; no word of a prototype is a row', (t) => {
  for (const verdict of [
    of('tx_something_new'),
    ofOperation('op_something_new'),
    of('tx_failed'),
    of('__proto__'),
    ofOperation('constructor'),
  ]) {
    t.is(verdict.kind, 'unknown');
  }
  t.is((of('tx_'.repeat(500)) as { reason: string }).reason.length, 100);
});

test('9.2 bytes that no server can read are refused for good; a busy server has said nothing about them', (t) => {
  for (const name of ['transaction_malformed', 'invalid_xdr'])
    t.like(explainError(name), { kind: 'rejected', code: 'CHAIN_REJECTED' });
  for (const name of [
    'timeout',
    'stale_history',
    'before_history',
    'rate_limit_exceeded',
    'server_over_capacity',
    'internal_server_error',
  ])
    t.is(explainError(name), null);
});

interface RecordedError {
  readonly name: string;
  readonly response: {
    extras?: { result_xdr?: string; result_codes?: { transaction: string; operations?: string[] } };
  };
}

test("9.2 recorded results: our words for a result's bytes are Horizon's own", (t) => {
  const cases = vector<{ cases: RecordedError[] }>('nodes/xlm/errors.json').cases.flatMap(
    ({ name, response: { extras } }) =>
      extras?.result_codes === undefined ? [] : [{ name, codes: extras.result_codes, xdr: extras.result_xdr }],
  );
  t.is(cases.length, 22);
  for (const { name, codes, xdr } of cases) {
    const read = codesOf(decodeXdr(TransactionResult, xdr, 'result'));
    t.is(read.transaction, codes.transaction, name);
    t.deepEqual(read.operations, codes.operations ?? [], name);
  }
});

/** A result as bytes: the fee, then its code and what belongs to it, then nothing of an extension. */
function resultOf(...numbers: readonly number[]) {
  const bytes = Buffer.alloc(8 + 4 * (numbers.length + 1));
  numbers.forEach((number, index) => bytes.writeInt32BE(number, 8 + 4 * index));
  return codesOf(decodeXdr(TransactionResult, bytes.toString('base64'), 'result'));
}
const FAILED = -1,
  INNER = 0;
const countDown = (names: string): [code: number, name: string][] =>
  names.split(' ').map((name, index) => [-(index + 1), name]);

test('9.2 codes of transactions, in the words of Horizon, by their numbers on the ledger', (t) => {
  const names =
    'tx_too_early tx_too_late tx_missing_operation tx_bad_seq tx_bad_auth tx_insufficient_balance tx_no_source_account tx_insufficient_fee tx_bad_auth_extra tx_internal_error tx_not_supported';
  for (const [code, name] of countDown(`tx_failed ${names}`).slice(1)) t.is(resultOf(code).transaction, name);
  t.deepEqual(
    [-14, -15, -16, -17].map((code) => resultOf(code).transaction),
    ['tx_bad_sponsorship', 'tx_bad_minseq_age_or_gap', 'tx_malformed', 'tx_soroban_invalid'],
  );
});

/** By the number of the operation's type. Source: stellar/go, package codes. */
const OPERATION_CODES: Readonly<Record<number, string>> = {
  0: 'op_malformed op_underfunded op_low_reserve op_already_exists',
  1: 'op_malformed op_underfunded op_src_no_trust op_src_not_authorized op_no_destination op_no_trust op_not_authorized op_line_full op_no_issuer',
  6: 'op_malformed op_no_issuer op_invalid_limit op_low_reserve op_self_not_allowed op_trust_line_missing op_cannot_delete',
  8: 'op_malformed op_no_account op_immutable_set op_has_sub_entries op_seq_num_too_far op_dest_full op_is_sponsor',
};

test('9.2 codes of operations, in the words of Horizon, by their numbers on the ledger', (t) => {
  for (const [type, names] of Object.entries(OPERATION_CODES)) {
    for (const [code, name] of countDown(names)) {
      const [read] = resultOf(FAILED, 1, INNER, Number(type), code).operations;
      t.is(read, name, `${type} ${code}`);
    }
  }
  t.deepEqual(
    [-1, -2, -3, -4, -5, -6].map((code) => resultOf(FAILED, 1, code).operations[0]),
    [
      'op_bad_auth',
      'op_no_source_account',
      'op_not_supported',
      'op_too_many_subentries',
      'op_exceeded_work_limit',
      'op_too_many_sponsoring',
    ],
  );
});
