/** The rules by which payloads are signed: one list, which a reader cannot get around. */
import test from 'ava';
import type { Network } from '../../../../chains/chain.ts';
import type { Fact, FactKind } from '../../../../edge/signing/signers/facts.ts';
import { checkBy } from '../../../../edge/signing/signers/rules.ts';
import { refuseToSign } from '../../../../edge/signing/signers/signer.ts';
import { documentText } from '../../../support/documents.ts';
import { stage } from '../../../support/edge/lies/evm.ts';
import { sources } from '../../../support/tree.ts';

const { unsigned, instruction, policy } = stage.asks['native']!,
  { feeMax, fee, replayKey, to, amount } = unsigned,
  own = { uses: ['7'], amount, rest: '' };

/** All facts of an honest payment. */
const FACTS: readonly Fact[] = [
  { kind: 'destination', to, asked: to, found: to },
  { kind: 'token', found: null },
  { kind: 'amount', found: amount },
  { kind: 'summary', of: 'payment', to, amount, tokenContract: null, tag: null, sendAll: false },
  { kind: 'fee', inBytes: feeMax },
  { kind: 'fee_parts', inBytes: fee },
  { kind: 'costs', feeMax, amount: null, price: null },
  { kind: 'counter', reason: 'nonce_outside_window', value: 7n },
  { kind: 'once', key: replayKey, own, version: () => own, amountMayFall: false },
];
const checkOf = (facts: readonly Fact[], end = refuseToSign('unreadable'), isPayment = true) =>
  checkBy(function* () {
    yield* facts;
    return isPayment ? null : end;
  })(stage.network as Network, unsigned, instruction, policy);

test('1.6 a reader that leaves out what every payload is judged by signs nothing', (t) => {
  t.is(checkOf(FACTS), null);
  const needed: readonly FactKind[] = [
    'destination',
    'amount',
    'summary',
    'fee',
    'fee_parts',
    'costs',
    'once',
    'counter',
  ];
  for (const kind of needed)
    t.throws(
      () => checkOf(FACTS.filter((fact) => fact.kind !== kind)),
      { message: /^the reader of eth left out / },
      kind,
    );
  for (const ending of [
    { kind: 'height', reason: 'locktime', height: 1 },
    { kind: 'ends', unit: 'milliseconds', at: BigInt(policy.nowMs! + 1), after: null },
  ] as const)
    t.is(checkOf([...FACTS.filter(({ kind }) => kind !== 'counter'), ending]), null, ending.kind);
});

test('1.6 a payment of a token is judged by the registry, an opt-in pays nobody', (t) => {
  const token = { chain: 'eth' as const, contract: to, decimals: 6, symbol: 'USDC' };
  const asked = (purpose: typeof instruction.purpose, facts: readonly Fact[]) =>
    checkBy(function* () {
      yield* facts;
      return null;
    })(stage.network as Network, unsigned, { ...instruction, purpose, token }, policy);
  const facts = FACTS.filter(({ kind }) => kind !== 'token');
  t.throws(() => asked(instruction.purpose, facts), { message: 'the reader of eth left out listed' });
  t.throws(
    () =>
      asked(
        'opt_in',
        facts.filter(({ kind }) => kind !== 'destination' && kind !== 'amount'),
      ),
    {
      message: 'the reader of eth left out listed',
    },
  );
});

test('1.6 a part of a fee that an object has by inheritance is not stated in the bytes', (t) => {
  const more = { ...fee, constructor: String(Object) };
  const facts = FACTS.map((fact) => (fact.kind === 'fee_parts' ? ({ ...fact, isAll: true } as Fact) : fact));
  const refusal = checkBy(function* () {
    yield* facts;
    return null;
  })(stage.network as Network, { ...unsigned, fee: more }, instruction, policy);
  t.like(refusal?.details, { reason: 'fee_mismatch' });
});

test('1.6 the first broken rule is the refusal, and a payload that is none of ours needs no facts', (t) => {
  const lie: Fact = { kind: 'amount', found: amount + 1n },
    part: Fact = { kind: 'part', reason: 'tag_mismatch', isSame: false, expected: null, found: '7' };
  t.like(checkOf([lie, part, ...FACTS])?.details, { reason: 'amount_mismatch', found: `${amount + 1n}` });
  t.like(checkOf([part, lie, ...FACTS])?.details, { reason: 'tag_mismatch', expected: null, found: '7' });
  t.is(checkOf([], refuseToSign('unreadable'), false)?.details['reason'], 'unreadable');
});

test('house 9: fees, journals and expiries are judged in rules.ts, and no reader has a copy of its own', (t) => {
  const readers = sources().filter(({ path }) => /^edge\/signing\/signers\/(btc|evm|tron|sol|xrp|xlm)\.ts$/.test(path));
  t.is(readers.length, 6);
  for (const { path, text } of readers)
    t.notRegex(text, /checkFeeBounds|checkCounter|checkHeight|withReplayKey|policy\.nowMs|feeCap|feeRatio/, path);
});

test('house 9: the table above the rules and docs/signing.md name every rule and every refusal', (t) => {
  const { text } = sources().find(({ path }) => path === 'edge/signing/signers/rules.ts')!,
    [above, code] = [text.slice(0, text.indexOf('*/')), text.slice(text.indexOf('*/'))],
    page = documentText('signing.md');
  const rules = [...code.matchAll(/^ {2}(?:function )?([a-z_]+)(?:\(|: \()/gm)].map(([, rule]) => rule!);
  const refusals = [...code.matchAll(/'([a-z]+_[a-z_]+)'/g)].map(([, reason]) => reason!),
    kinds = ['gas_funding', 'fee_parts', 'opt_in'];
  t.true(rules.length >= 18 && refusals.length > 20, `${rules.length} rules, ${refusals.length} refusals`);
  for (const rule of rules) {
    t.regex(above, new RegExp(`^ \\*   ${rule} `, 'm'));
    t.regex(page, new RegExp(`^\\| ([a-z_]+, )*${rule}[ ,]`, 'm'), rule);
  }
  for (const reason of refusals.filter((one) => !kinds.includes(one))) {
    t.true(above.includes(reason), reason);
    t.true(page.includes(`\`${reason}\``), reason);
  }
});
