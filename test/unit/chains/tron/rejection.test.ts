import test from 'ava';
import { explainRejection, plainMessage, type Verdict } from '../../../../chains/tron/rejection.ts';
import { vector } from '../../../support/vectors.ts';

const hex = (text: string) => Buffer.from(text).toString('hex');
const said = (code: string, message: string): Verdict => explainRejection({ code, message });
const invalid = (text: string): Verdict => said('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${text}`);

/** chains.md 6.2, "Broadcast codes", row by row with the texts of java-tron. */
const CODES: [code: string, text: string, verdict: Partial<Record<string, unknown>>][] = [
  ['SUCCESS', '', { kind: 'accepted' }],
  ['DUP_TRANSACTION_ERROR', 'Dup transaction.', { kind: 'look_up' }],
  ['DUP_TRANSACTION_ERROR', 'Transaction already exists.', { kind: 'look_up' }],
  [
    'SIGERROR',
    'Validate signature error: Signature size is 1',
    { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'check_permissions' },
  ],
  [
    'SIGERROR',
    'Validate signature error: 00 is signed by T… but it is not contained of permission.',
    { kind: 'rejected', action: 'check_permissions' },
  ],
  [
    'CONTRACT_VALIDATE_ERROR',
    'Contract validate error : something new',
    { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'none' },
  ],
  ['CONTRACT_EXE_ERROR', 'Contract execute error : x', { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'none' }],
  [
    'BANDWITH_ERROR',
    'Account resource insufficient error.',
    { kind: 'rejected', code: 'INSUFFICIENT_GAS', action: 'fund' },
  ],
  ['TAPOS_ERROR', 'Tapos check error.', { kind: 'unknown', reason: 'Tapos check error.' }],
  ['TRANSACTION_EXPIRATION_ERROR', 'Transaction expired', { kind: 'expired', reason: 'Transaction expired' }],
  [
    'TOO_BIG_TRANSACTION_ERROR',
    'Too big transaction, TxId 00',
    { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'rebuild' },
  ],
  ['BLOCK_UNSOLIDIFIED', 'Block unsolidified.', { kind: 'unknown' }],
  ['SERVER_BUSY', 'Server busy.', { kind: 'unknown' }],
  ['NO_CONNECTION', 'No connection.', { kind: 'unknown' }],
  ['NOT_ENOUGH_EFFECTIVE_CONNECTION', 'P2P broadcast failed.', { kind: 'unknown' }],
  ['OTHER_ERROR', 'Error: null', { kind: 'unknown' }],
  ['A_CODE_OF_TOMORROW', '', { kind: 'unknown', reason: 'A_CODE_OF_TOMORROW' }],
];

/** chains.md 6.2, "Inner validation texts". */
const TEXTS: [text: string, verdict: Partial<Record<string, unknown>>][] = [
  [
    'Validate TransferContract error, balance is not sufficient.',
    { code: 'INSUFFICIENT_FUNDS', action: 'check_balance' },
  ],
  ['Validate TransferContract error, no OwnerAccount.', { code: 'INSUFFICIENT_GAS', action: 'fund' }],
  ['account [TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH] does not exist', { code: 'INSUFFICIENT_GAS', action: 'fund' }],
  [
    'account [T…] has insufficient bandwidth[268] and balance[100000] to create new account',
    { code: 'INSUFFICIENT_GAS', action: 'fund' },
  ],
  ['Cannot transfer TRX to yourself.', { code: 'INVALID_INPUT', action: 'rebuild' }],
  ['Amount must be greater than 0.', { code: 'INVALID_INPUT', action: 'rebuild' }],
  ['Invalid toAddress!', { code: 'INVALID_INPUT', action: 'rebuild' }],
  ['Invalid ownerAddress!', { code: 'INVALID_INPUT', action: 'rebuild' }],
  ['No contract or not a smart contract', { code: 'CHAIN_REJECTED', action: 'rebuild' }],
  ['Cannot transfer TRX to a smartContract.', { code: 'CHAIN_REJECTED', action: 'rebuild' }],
  ['feeLimit must be >= 0 and <= 15000000000', { code: 'CHAIN_REJECTED', action: 'rebuild' }],
];

test('6.2 X2 G26 every broadcast code has its class and action, whether the text is hex or plain', (t) => {
  for (const [code, text, verdict] of CODES) {
    t.like(said(code, text), verdict, `${code} ${text}`);
    t.like(said(code, hex(text)), verdict, `hex of ${code} ${text}`);
  }
});

test('6.2 X2 every validation text has its service code', (t) => {
  for (const [text, verdict] of TEXTS) t.like(invalid(text), { kind: 'rejected', ...verdict }, text);
});

test('6.2 a result without a code: true is taken, anything else proves nothing (proto3 leaves out defaults)', (t) => {
  t.deepEqual(explainRejection({ result: true }), { kind: 'accepted' });
  t.like(explainRejection({}), { kind: 'unknown' });
  t.like(explainRejection({ result: false, message: hex('Server busy.') }), {
    kind: 'unknown',
    reason: 'Server busy.',
  });
});

test('6.2 trustwallet/wallet-core#1532: a message in hex is decoded; hex of nothing printable, and plain text, stay', (t) => {
  t.is(plainMessage('5461706f7320636865636b206572726f72'), 'Tapos check error');
  t.is(plainMessage('Tapos check error.'), 'Tapos check error.');
  t.is(plainMessage('00ff'), '00ff');
  t.is(plainMessage(''), '');
  t.is(plainMessage('abc'), 'abc');
  t.notRegex(plainMessage(hex('see https://node.example/v3/SECRET-KEY')), /SECRET/, 'X2');
});

test('recorded: a refused signature and an accepted transaction are what they say', (t) => {
  const { cases } = vector<{ cases: { name: string; response: Record<string, never> }[] }>(
    'nodes/tron/rpc_shapes.json',
  );
  const recorded = (name: string) => explainRejection(cases.find((one) => one.name === name)!.response);
  t.like(recorded('broadcasttransaction refused: signature'), {
    kind: 'rejected',
    action: 'check_permissions',
    reason: 'Validate signature error: Signature size is 1',
  });
  t.deepEqual(recorded('broadcasttransaction accepted'), { kind: 'accepted' });
});
