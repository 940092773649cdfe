import test from 'ava';
import { DEFAULT_DEFINITIONS } from 'ripple-binary-codec';
import { explainError, explainResult } from '../../../../chains/xrp/rejection.ts';

const of = (engineResult: string, isCarried = false) => explainResult({ engineResult, isCarried });

/** The table of chains.md 8.2, row by row: class, then the code and what would be accepted. */
const TABLE: readonly (readonly [results: readonly string[], kind: string, code?: string, action?: string])[] = [
  [['tesSUCCESS', 'terQUEUED'], 'accepted'],
  [['tefALREADY'], 'already_known'],
  [['tefPAST_SEQ', 'tefNO_TICKET'], 'look_up'],
  [['terPRE_SEQ', 'terPRE_TICKET', 'tefMAX_LEDGER'], 'unknown'],
  [
    [
      'telINSUF_FEE_P',
      'telCAN_NOT_QUEUE',
      'telCAN_NOT_QUEUE_BALANCE',
      'telCAN_NOT_QUEUE_BLOCKS',
      'telCAN_NOT_QUEUE_BLOCKED',
      'telCAN_NOT_QUEUE_FEE',
      'telCAN_NOT_QUEUE_FULL',
    ],
    'rejected',
    'CHAIN_REJECTED',
    'reprice',
  ],
  [['terINSUF_FEE_B', 'tecINSUFF_FEE'], 'rejected', 'INSUFFICIENT_GAS', 'fund'],
  [['terNO_ACCOUNT'], 'rejected', 'CHAIN_REJECTED', 'fund'],
  [['tecUNFUNDED_PAYMENT'], 'rejected', 'INSUFFICIENT_FUNDS', 'fund'],
  [['tecNO_DST', 'tecNO_DST_INSUF_XRP'], 'rejected', 'INSUFFICIENT_RESERVE', 'fund_destination'],
  [
    ['tecDST_TAG_NEEDED', 'tecNO_PERMISSION', 'tecNO_AUTH', 'tecFROZEN'],
    'rejected',
    'CHAIN_REJECTED',
    'ask_destination',
  ],
  [['tecPATH_DRY', 'tecPATH_PARTIAL'], 'rejected', 'INSUFFICIENT_FUNDS', 'open_line'],
  [
    ['tecINSUFFICIENT_RESERVE', 'tecINSUF_RESERVE_LINE', 'tecNO_LINE_INSUF_RESERVE'],
    'rejected',
    'INSUFFICIENT_RESERVE',
    'fund',
  ],
  [['tecHAS_OBLIGATIONS', 'tecTOO_SOON'], 'rejected', 'CHAIN_REJECTED', 'wait'],
  [
    ['tefBAD_AUTH', 'temBAD_SIGNATURE', 'telWRONG_NETWORK', 'telNETWORK_ID_MAKES_TX_NON_CANONICAL'],
    'rejected',
    'CHAIN_REJECTED',
    'none',
  ],
];

for (const [results, kind, code, action] of TABLE) {
  for (const result of results) {
    test(`8.2 part 3 ${result} is ${kind}${code === undefined ? '' : ` ${code}`}`, (t) => {
      t.notThrows(() => DEFAULT_DEFINITIONS.transactionResult.from(result), 'a word of the ledger');
      const verdict = of(result);
      t.is(verdict.kind, kind as never);
      if (verdict.kind === 'rejected') t.like(verdict, { code, action, reason: result });
      if (verdict.kind === 'unknown') t.is(verdict.reason, result);
    });
  }
}

test('8.2 busy servers decide nothing; bytes that no server can read are refused for good', (t) => {
  for (const token of [
    'tooBusy',
    'slowDown',
    'noNetwork',
    'noCurrent',
    'internal',
    'unknownCmd',
    'amendmentBlocked',
    'somethingNew',
  ]) {
    t.is(explainError({ token, message: '' }).kind, 'unknown', token);
  }
  t.like(explainError({ token: 'invalidTransaction', message: 'fails local checks' }), {
    kind: 'rejected',
    code: 'CHAIN_REJECTED',
    reason: 'invalidTransaction: fails local checks',
  });
});

test('found F22 8.2 G26 the closed list holds every tem and tec of the ledger; a word of neither list nor table is unknown', (t) => {
  const all = Object.keys(DEFAULT_DEFINITIONS.transactionResult).filter((name) => /^te[a-z]+[A-Z]/.test(name));
  t.true(all.length > 100);
  for (const result of all) {
    const { kind } = of(result),
      family = result.slice(0, 3);
    if (family === 'tem' && !['temUNCERTAIN', 'temUNKNOWN'].includes(result)) t.is(kind, 'rejected', result);
    if (family === 'tes') t.is(kind, 'accepted', result);
    if (family === 'tec') t.is(kind, 'rejected', result);
  }
  t.deepEqual(
    [
      'telLOCAL_ERROR',
      'telFAILED_PROCESSING',
      'terRETRY',
      'terSOMETHING_NEW',
      'tefINTERNAL',
      'tefEXCEPTION',
      'tefFAILURE',
      'nonsense',
      '__proto__',
      'toString',
    ].map((result) => of(result).kind),
    Array(10).fill('unknown'),
  );
  t.is(of('tefMASTER_DISABLED').kind, 'rejected');
  for (const word of [
    'tecSOMETHING_NEW',
    'temSOMETHING_NEW',
    'tefSOMETHING_NEW',
    'tesSOMETHING_NEW',
    'telSOMETHING_NEW',
  ])
    t.is(of(word).kind, 'unknown', word);
});

test('8.2 C6-56 a tec of a server that passed it on in spite of fail_hard is no end: it may yet succeed', (t) => {
  t.deepEqual(of('tecUNFUNDED_PAYMENT', true), { kind: 'accepted' });
  for (const result of ['tefBAD_AUTH', 'telINSUF_FEE_P', 'telCAN_NOT_QUEUE', 'temBAD_FEE', 'terINSUF_FEE_B'])
    t.is(of(result, true).kind, 'unknown', `${result}: refused and carried contradict each other`);
  t.is(of('terPRE_SEQ', true).kind, 'unknown');
});

test('8.2 what decides between two codes is said: the balance for a shortage, the line for a dry path', (t) => {
  t.like(of('tecUNFUNDED_PAYMENT'), { needs: 'balance' });
  for (const result of ['tecPATH_DRY', 'tecPATH_PARTIAL']) t.like(of(result), { needs: 'line' });
  t.is((of('tecNO_DST') as { needs?: string }).needs, undefined);
});
