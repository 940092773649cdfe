/** What is refused before anything is built, in the service's words and in the ledger's. */
import test from 'ava';
import fc from 'fast-check';
import type { Intent } from '../../../../chains/chain.ts';
import type { XlmInputs } from '../../../../chains/xlm/inputs.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { isTag } from '../../../../chains/xlm/payable.ts';
import { buildUnsigned } from '../../../../chains/xlm/unsigned.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { person } from '../../../../developer/stand-ins/xlm/people.ts';
import { accountOf, inputsOf, lineOf } from '../../../support/xlm-inputs.ts';
import { intentOf, ours, tank, XLM } from '../../../support/xlm-node.ts';

const US = ours(0),
  ISSUER = person(12).publicKey();
const USDC = { chain: 'xlm', contract: `USDC:${ISSUER}`, symbol: 'USDC', decimals: 7 } as const;
const line = (balance: bigint, more: Parameters<typeof lineOf>[0] = {}) => ({
  lines: { [USDC.contract]: lineOf({ balance: balance.toString(), ...more }) },
});

/** `code reason`, or `built`. */
function verdict(wish: Partial<Intent> = {}, inputs: Partial<XlmInputs> = {}): string {
  const built = buildUnsigned(stellar, inputsOf(US.address, inputs), intentOf(US, wish), null);
  return isRefusal(built) ? `${built.code} ${String(built.details['reason'])}` : 'built';
}
const token = (
  sender: object,
  destination: object | null,
  more: Partial<XlmInputs> = {},
): [Partial<Intent>, Partial<XlmInputs>] => [
  { token: USDC, amount: 10n },
  {
    sender: accountOf(sender),
    destination: destination === null ? null : accountOf(destination),
    issuer: accountOf(),
    ...more,
  },
];

test('M24 SEP-29 whoever asks for a memo is not paid without one; a muxed id is one', (t) => {
  const destination = accountOf({ memoRequired: true });
  t.is(verdict({}, { destination }), 'INVALID_INPUT memo_required');
  t.is(verdict({ tag: '1' }, { destination }), 'built');
  t.is(verdict({ tag: '1', tagOfAddress: true }, { destination }), 'built');
});

test('C8-62 a tag is a whole number of 64 bits and nothing else', (t) => {
  for (const tag of ['0', '1', '18446744073709551615']) t.true(isTag(tag), tag);
  for (const tag of [
    '',
    '00',
    '01',
    '-1',
    '1.0',
    '1e3',
    ' 1',
    '18446744073709551616',
    '99999999999999999999999',
    'x',
    '１',
  ]) {
    t.false(isTag(tag), tag);
    t.regex(verdict({ tag }), /^INVALID_INPUT/);
  }
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (id) => isTag(id.toString())));
});

test('G22 nobody pays himself', (t) => {
  t.is(verdict({ to: US.address }), 'INVALID_ADDRESS the sender itself');
});

test('M25 an account that is not there: created by a coin at least, not by less, never by a token', (t) => {
  t.is(verdict({ amount: XLM }, { destination: null }), 'built');
  t.is(verdict({ amount: XLM - 1n }, { destination: null }), 'INSUFFICIENT_RESERVE op_low_reserve');
  t.is(
    verdict({ amount: 2n * XLM - 1n }, { destination: null, baseReserve: '10000000' }),
    'INSUFFICIENT_RESERVE op_low_reserve',
    "M23: the reserve is the ledger's",
  );
  t.is(verdict(...token(line(100n), null)), 'DESTINATION_OPT_IN_REQUIRED op_no_destination');
});

test('M25 M26 C8-67 a token arrives only on a line, which its issuer has authorised and which has room', (t) => {
  t.is(verdict(...token(line(100n), line(0n))), 'built');
  t.is(verdict(...token(line(100n), {})), 'DESTINATION_OPT_IN_REQUIRED op_no_trust');
  const [wish, there] = token(line(100n), {}),
    intent = intentOf(US, wish);
  t.like(
    buildUnsigned(stellar, inputsOf(US.address, there), intent, null),
    { details: { chain: 'xlm', asset: USDC.contract, destination: intent.to } },
    '§4.2',
  );
  t.is(verdict(...token(line(100n), line(0n, { authorized: false }))), 'CHAIN_REJECTED op_not_authorized');
  t.is(verdict(...token(line(100n), line(0n, { limit: '10' }))), 'built');
  t.is(verdict(...token(line(100n), line(1n, { limit: '10' }))), 'CHAIN_REJECTED op_line_full');
  t.is(verdict(...token(line(100n), line(0n, { limit: '10', buyingLiabilities: '1' }))), 'CHAIN_REJECTED op_line_full');
  t.is(verdict(...token(line(100n), line(0n), { issuer: null })), 'CHAIN_REJECTED op_no_issuer');
  t.is(
    verdict({ token: USDC, amount: 10n, to: ISSUER }, { sender: accountOf(line(100n)), issuer: accountOf() }),
    'built',
    'an issuer needs no line',
  );
});

test('X1 M23 what is short: the asset, then the fee, then the reserve', (t) => {
  const balance = (stroops: bigint) => ({ sender: accountOf({ balance: stroops.toString() }) });
  t.is(verdict({ amount: 3n * XLM }, balance(3n * XLM - 1n)), 'INSUFFICIENT_FUNDS op_underfunded');
  t.is(verdict({ amount: 3n * XLM }, balance(3n * XLM + 99n)), 'INSUFFICIENT_GAS tx_insufficient_balance');
  t.is(verdict({ amount: 3n * XLM }, balance(4n * XLM + 99n)), 'INSUFFICIENT_RESERVE op_underfunded');
  t.is(verdict({ amount: 3n * XLM }, balance(4n * XLM + 100n)), 'built');
  t.is(
    verdict({ amount: XLM }, { sender: null }),
    'INSUFFICIENT_FUNDS op_underfunded',
    'an account that is not there has nothing',
  );
  const promised = {
    sender: accountOf({ balance: (10n * XLM).toString(), sellingLiabilities: (7n * XLM).toString() }),
  };
  t.is(
    verdict({ amount: 3n * XLM + 1n }, promised),
    'INSUFFICIENT_FUNDS op_underfunded',
    'what offers have promised is not there',
  );
  t.is(verdict(...token({}, line(0n))), 'INSUFFICIENT_FUNDS op_src_no_trust');
  t.is(verdict(...token(line(9n), line(0n))), 'INSUFFICIENT_FUNDS op_underfunded');
  t.is(verdict(...token(line(12n, { sellingLiabilities: '3' }), line(0n))), 'INSUFFICIENT_FUNDS op_underfunded');
  t.is(verdict(...token(line(100n, { authorized: false }), line(0n))), 'CHAIN_REJECTED op_src_not_authorized');
  t.is(
    verdict(...token({ ...line(100n), balance: '15000099', subentries: 1 }, line(0n))),
    'INSUFFICIENT_GAS tx_insufficient_balance',
  );
  t.is(verdict(...token({ ...line(100n), balance: '15000100', subentries: 1 }, line(0n))), 'built');
});

test('M28 a fee that somebody else pays is short with him', (t) => {
  const poor = { ...line(100n), balance: '15000000', subentries: 1 };
  const [wish, inputs] = token(poor, line(0n), { feePayer: tank.address, payer: accountOf() });
  t.is(verdict(wish, inputs), 'built');
  t.is(
    verdict(wish, { ...inputs, payer: accountOf({ balance: '10000199' }) }),
    'INSUFFICIENT_GAS tx_insufficient_balance',
  );
  t.is(
    verdict(wish, { ...inputs, payer: accountOf({ balance: '10000200' }) }),
    'built',
    'two operations at the base fee',
  );
  t.is(verdict(wish, { ...inputs, payer: null }), 'INSUFFICIENT_GAS tx_insufficient_balance');
});

test('M26 §4.2 a trust line: an issued asset, an account and an issuer that are there, no line yet, one more reserve and the fee', (t) => {
  const wish = { kind: 'trustline', to: US.address, token: USDC, amount: 0n } as const;
  const issuer = accountOf(),
    sender = (stroops: bigint, more: object = {}) => accountOf({ balance: stroops.toString(), ...more });
  t.is(verdict(wish, { issuer, sender: sender(15_000_100n) }), 'built');
  t.is(verdict(wish, { issuer, sender: sender(15_000_099n) }), 'INSUFFICIENT_RESERVE op_low_reserve');
  t.is(
    verdict(wish, { issuer, sender: sender(10_000_000n) }),
    'INSUFFICIENT_RESERVE op_low_reserve',
    '1.5 XLM and the fee',
  );
  t.is(verdict(wish, { issuer, sender: null }), 'CHAIN_REJECTED tx_no_source_account');
  t.is(verdict(wish, { issuer: null }), 'CHAIN_REJECTED op_no_issuer');
  t.is(verdict(wish, { issuer, sender: accountOf(line(0n)) }), 'CONFLICT the trust line exists');
  t.is(
    verdict(wish, { issuer, sender: accountOf(line(0n, { authorized: false })) }),
    'CONFLICT the trust line exists',
    'also one that nobody has authorised',
  );
  t.is(verdict({ ...wish, tag: '1' }, { issuer }), 'INVALID_INPUT a trust line has no tag');
  t.is(verdict({ ...wish, token: null }, { issuer }), 'INVALID_INPUT a trust line is for an issued asset');
  t.is(
    verdict({ ...wish, token: { ...USDC, contract: `USDC:${US.address}` } }, { issuer }),
    'INVALID_INPUT op_self_not_allowed',
  );
  t.is(
    verdict(wish, { issuer, sender: sender(15_000_000n), feePayer: tank.address, payer: accountOf() }),
    'built',
    'M28',
  );
  t.is(
    verdict(wish, {
      issuer,
      sender: sender(15_000_000n),
      feePayer: tank.address,
      payer: accountOf({ balance: '10000199' }),
    }),
    'INSUFFICIENT_GAS tx_insufficient_balance',
  );
});
