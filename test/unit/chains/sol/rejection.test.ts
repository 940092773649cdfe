import test from 'ava';
import type { ErrorCode } from '../../../../protocol/errors.ts';
import {
  explainNodeError,
  explainRejection,
  explainTransactionError,
  reasonOf,
  type NodeMeaning,
} from '../../../../chains/sol/rejection.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../../chains/sol/programs.ts';
import { vector } from '../../../support/vectors.ts';

interface Recorded {
  name: string;
  response: { error?: { code: number; message: string; data?: unknown }; result?: unknown };
}
const recorded = vector<{ cases: Recorded[] }>('nodes/sol/errors.json').cases;
const errorNamed = (name: string) => recorded.find((one) => one.name === name)!.response.error!;

const NATIVE = [COMPUTE_BUDGET_PROGRAM, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM];
const TOKEN = [COMPUTE_BUDGET_PROGRAM, COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM];
const CREATING = [COMPUTE_BUDGET_PROGRAM, COMPUTE_BUDGET_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

const MEANINGS: Readonly<Record<string, NodeMeaning>> = {
  'slot skipped (ledger jump)': 'no_block',
  'slot skipped (long-term storage)': 'no_block',
  'block not available': 'no_block',
  'block status not yet available': 'unavailable',
  'block cleaned up': 'unavailable',
  'transaction version not supported': 'version',
  'long-term storage unreachable': 'unavailable',
  'node unhealthy': 'lagging',
  'node behind': 'lagging',
};

for (const { name, response } of recorded) {
  if (response.error === undefined || response.error.code === -32_002) continue;
  test(`7.2 recorded answer "${name}": nothing is proven by it, and what is done about it`, (t) => {
    t.is(explainNodeError(response.error!), MEANINGS[name]!);
    t.is(explainRejection(response.error!, NATIVE).kind, 'unknown', 'it says nothing about a transaction');
  });
}

test('7.2 codes without a recorded answer', (t) => {
  t.is(explainNodeError({ code: -32_011 }), 'no_history');
  t.is(explainNodeError({ code: -32_016 }), 'lagging');
  for (const code of [-32_000, -32_603, 429, 503, -32_601]) t.is(explainNodeError({ code }), 'unavailable');
});

test('7.2 X2 recorded preflight answers: the structured error decides, by the program that failed', (t) => {
  const lamports = errorNamed('preflight: insufficient lamports');
  t.like(explainRejection(lamports, [SYSTEM_PROGRAM]), { kind: 'rejected', code: 'INSUFFICIENT_FUNDS' });
  t.true(
    (explainRejection(lamports, [SYSTEM_PROGRAM]) as { reason: string }).reason.includes(
      'insufficient lamports 995000, need 1000001',
    ),
  );
  t.like(
    explainRejection(lamports, ['Stake11111111111111111111111111111111111111']),
    { kind: 'rejected', code: 'CHAIN_REJECTED' },
    'the same number of another program',
  );
  t.like(explainRejection(errorNamed('preflight: account not found'), NATIVE), {
    kind: 'rejected',
    code: 'INSUFFICIENT_GAS',
  });
});

const preflight = (err: unknown, logs: readonly string[] = []) => ({
  code: -32_002,
  message: 'Transaction simulation failed',
  data: { err, logs },
});
const atLast = (programs: readonly string[], cause: unknown) => ({ InstructionError: [programs.length - 1, cause] });

const TABLE: readonly (readonly [err: unknown, programs: readonly string[], kind: string, code: ErrorCode | null])[] = [
  ['AlreadyProcessed', NATIVE, 'already_known', null],
  ['BlockhashNotFound', NATIVE, 'unknown', null],
  ['InsufficientFundsForFee', NATIVE, 'rejected', 'INSUFFICIENT_GAS'],
  ['AccountNotFound', NATIVE, 'rejected', 'INSUFFICIENT_GAS'],
  [{ InsufficientFundsForRent: { account_index: 0 } }, NATIVE, 'rejected', 'INSUFFICIENT_RESERVE'],
  [{ InsufficientFundsForRent: { account_index: 1 } }, NATIVE, 'rejected', 'INSUFFICIENT_RESERVE'],
  ['InvalidRentPayingAccount', NATIVE, 'rejected', 'INSUFFICIENT_RESERVE'],
  ['InvalidAccountForFee', NATIVE, 'rejected', 'CHAIN_REJECTED'],
  ['SanitizeFailure', NATIVE, 'rejected', 'CHAIN_REJECTED'],
  ['AccountInUse', NATIVE, 'unknown', null],
  ['ClusterMaintenance', NATIVE, 'unknown', null],
  [{ ProgramExecutionTemporarilyRestricted: { account_index: 1 } }, NATIVE, 'unknown', null],
  ['WouldExceedMaxBlockCostLimit', NATIVE, 'unknown', null],
  ['WouldExceedMaxAccountCostLimit', NATIVE, 'unknown', null],
  ['WouldExceedAccountDataBlockLimit', NATIVE, 'unknown', null],
  ['ProgramCacheHitMaxLimit', NATIVE, 'unknown', null],
  ['ResanitizationNeeded', NATIVE, 'unknown', null],
  ['CommitCancelled', NATIVE, 'unknown', null],
  [atLast(NATIVE, { Custom: 1 }), NATIVE, 'rejected', 'INSUFFICIENT_FUNDS'],
  [atLast(TOKEN, { Custom: 1 }), TOKEN, 'rejected', 'INSUFFICIENT_FUNDS'],
  [atLast(CREATING, { Custom: 1 }), CREATING, 'rejected', 'INSUFFICIENT_FUNDS'],
  [{ InstructionError: [2, { Custom: 1 }] }, CREATING, 'rejected', 'INSUFFICIENT_GAS'],
  [atLast(TOKEN, { Custom: 17 }), TOKEN, 'rejected', 'CHAIN_REJECTED'],
  [atLast(CREATING, { Custom: 31 }), CREATING, 'rejected', 'CHAIN_REJECTED'],
  [atLast(TOKEN, 'AccountNotRentExempt'), TOKEN, 'rejected', 'INSUFFICIENT_RESERVE'],
  [{ InstructionError: [0, 'ComputationalBudgetExceeded'] }, NATIVE, 'rejected', 'CHAIN_REJECTED'],
  [{ InstructionError: [9, { Custom: 1 }] }, NATIVE, 'unknown', null],
  [{ SomethingNew: { of: 'tomorrow' } }, NATIVE, 'unknown', null],
];

for (const [err, programs, kind, code] of TABLE) {
  test(`7.2 X2 ${JSON.stringify(err)} of ${programs.at(-1)!.slice(0, 6)}… is ${kind}${code === null ? '' : ` ${code}`}`, (t) => {
    const verdict = explainRejection(preflight(err), programs);
    t.like(verdict, code === null ? { kind } : { kind, code });
    t.deepEqual(explainTransactionError(err, programs, []), verdict, 'a simulation means the same');
  });
}

const TEXTS: readonly (readonly [text: string, kind: string, code: ErrorCode | null])[] = [
  ['Transaction simulation failed: This transaction has already been processed', 'already_known', null],
  ['Transaction simulation failed: Blockhash not found', 'unknown', null],
  ['Transaction simulation failed: Insufficient funds for fee', 'rejected', 'INSUFFICIENT_GAS'],
  [
    'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
    'rejected',
    'INSUFFICIENT_GAS',
  ],
  [
    'Transaction simulation failed: Transaction results in an account (1) with insufficient funds for rent',
    'rejected',
    'INSUFFICIENT_RESERVE',
  ],
  ['Transaction leaves an account with a lower balance than rent-exempt minimum', 'rejected', 'INSUFFICIENT_RESERVE'],
  ['This account may not be used to pay transaction fees', 'rejected', 'CHAIN_REJECTED'],
  ['Transaction simulation failed: custom program error: 0x1', 'unknown', null], // which program is not told
  ['too many requests from your plan', 'unknown', null],
];

for (const [text, kind, code] of TEXTS) {
  test(`7.2 X2 a provider that drops the structure: "${text.slice(-48)}"`, (t) => {
    t.like(explainRejection({ code: -32_002, message: text }, NATIVE), code === null ? { kind } : { kind, code });
  });
}

test('7.2 a signature that does not verify and bytes that cannot be read are final; a minded option is not', (t) => {
  t.like(explainRejection({ code: -32_003, message: 'Transaction signature verification failure' }, NATIVE), {
    kind: 'rejected',
    code: 'CHAIN_REJECTED',
  });
  for (const message of [
    'failed to deserialize solana_transaction: io error',
    'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
    'base64 encoded VersionedTransaction too large: 1700 bytes',
  ])
    t.like(explainRejection({ code: -32_602, message }, NATIVE), { kind: 'rejected', code: 'CHAIN_REJECTED' });
  t.is(
    explainRejection({ code: -32_602, message: 'Invalid params: unknown field `maxRetries`' }, NATIVE).kind,
    'unknown',
  );
});

test('X2 the reason for people is bounded and quotes the program', (t) => {
  t.is(reasonOf('AccountNotFound', []), 'AccountNotFound');
  t.is(
    reasonOf({ InstructionError: [0, { Custom: 1 }] }, ['Program log: Error: insufficient funds']),
    '{"InstructionError":[0,{"Custom":1}]}: Program log: Error: insufficient funds',
  );
  t.true(reasonOf({ x: 'y'.repeat(2_000) }, []).length <= 300);
});
