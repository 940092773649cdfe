import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Block, type Catalogue, type Token } from '../../../../chains/chain.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { operationIndexOf } from '../../../../chains/xlm/records.ts';
import { outcomesIn, transfersIn, type XlmLedger } from '../../../../chains/xlm/transfers.ts';
import { answer, expectedCases } from '../../../support/vectors.ts';

const tokenOf = (contract: string) =>
  [contract, { chain: 'xlm', contract, symbol: contract.split(':')[0]!, decimals: 7 } as Token] as const;
const USDC = 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
const listed: Catalogue = new Map([tokenOf(USDC)]);

const blockOf = (raw: Partial<XlmLedger>): Block<XlmLedger> => ({
  height: 1,
  hash: '',
  parentHash: '',
  parentHeight: 0,
  timeMs: null,
  raw: { operations: [], effects: null, transactions: null, ...raw },
});
const decode = (raw: Partial<XlmLedger>, catalogue = listed) => transfersIn(stellar, blockOf(raw), catalogue);

for (const expected of expectedCases('xlm').filter(({ credits }) => credits !== undefined)) {
  test(`M1 M2 M3 M4 M13 M14 G2 G3 G20 ${expected.case}: exactly the expected credits`, (t) => {
    const catalogue = new Map(
      expected.credits!.flatMap(({ tokenContract }) => (tokenContract === null ? [] : [tokenOf(tokenContract!)])),
    );
    const { transfers, ignored } = decode({ operations: answer(expected.files[0]!) }, catalogue);
    t.deepEqual(
      transfers.map(({ txid, outputIndex, to, amount, decimals, tokenContract, tag, activates, from }) => [
        txid,
        outputIndex,
        to,
        amount.toString(),
        decimals,
        tokenContract,
        tag,
        activates === true,
        from,
      ]),
      expected.credits!.map((credit) => [
        credit.txid,
        operationIndexOf(credit.operationId),
        credit.address,
        credit.amount,
        7,
        credit.tokenContract,
        (credit as { toMuxedId?: string }).toMuxedId ?? null,
        credit.createsAccount === true,
        [(credit as { from?: string }).from],
      ]),
    );
    // Merges and claims wait for the effects; an owner's own conversion is none (G22).
    for (const credit of [...expected.mustNotCredit!, ...expected.policy!]) {
      t.false(
        transfers.some(({ txid }) => txid === credit.txid),
        credit.why,
      );
      t.true(
        ignored.some(({ txid }) => txid === credit.txid),
        credit.why,
      );
    }
  });
}

const US = 'GB3JDWCQJCWMJ3IILWIGDTQJJC5567PGVEVXSCVPEQOTDN64VJBDQBYX';
const US_MUXED_420 = 'MB3JDWCQJCWMJ3IILWIGDTQJJC5567PGVEVXSCVPEQOTDN64VJBDQAAAAAAAAAABURYOO';
const PAYER = 'GDVSYYTUAJ3ACHTPQNSTQBDQ4LDHQCMNY4FCEQH5TJUMSSLWQSTG42MV';
const CONTRACT = 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75';
const HASH = 'ab'.repeat(32);
const ID = ((7n << 32n) | (3n << 12n) | 2n).toString();
const asset = { asset_type: 'credit_alphanum4', asset_code: 'USDC', asset_issuer: USDC.split(':')[1] };

const operation = (type: string, fields: object = {}) => ({
  id: ID,
  type,
  transaction_hash: HASH,
  transaction_successful: true,
  source_account: PAYER,
  ...fields,
});
const payment = (fields: object = {}) =>
  operation('payment', { asset_type: 'native', from: PAYER, to: US, amount: '1.0000000', ...fields });
const effect = (type: string, fields: object = {}) => ({
  id: `${ID.padStart(19, '0')}-0000000001`,
  type,
  account: US,
  asset_type: 'native',
  amount: '3.5000000',
  ...fields,
});
const credits = (operations: unknown[], more: Partial<XlmLedger> = {}) =>
  decode({ operations, ...more }).transfers.map(({ outputIndex, to, amount, tokenContract }) => [
    outputIndex,
    to,
    amount,
    tokenContract,
  ]);

test('M1 an operation of a failed transaction never counts; one that does not say is malformed', (t) => {
  const failed = decode({ operations: [payment({ transaction_successful: false })] });
  t.deepEqual(failed, { transfers: [], ignored: [{ txid: HASH, reason: 'payment of a failed transaction' }] });
  t.throws(() => decode({ operations: [payment({ transaction_successful: undefined })] }), {
    instanceOf: MalformedReply,
  });
});

test('M2 M17 G5 G23 C2-25 a payment counts by code and issuer, both', (t) => {
  t.deepEqual(credits([payment()]), [[1, US, 10_000_000n, null]]);
  t.deepEqual(credits([payment(asset)]), [[1, US, 10_000_000n, USDC]]);
  t.deepEqual(credits([payment({ ...asset, asset_issuer: PAYER })]), []);
  t.deepEqual(credits([payment({ ...asset, asset_code: 'USDT' })]), []);
});

test('M3 a path payment credits what arrived, in the asset that arrived', (t) => {
  const path = {
    ...asset,
    amount: '0.0005045',
    source_amount: '57.4988800',
    source_asset_type: 'native',
    destination_min: '0.0004995',
  };
  for (const type of ['path_payment_strict_send', 'path_payment_strict_receive', 'path_payment']) {
    t.deepEqual(credits([operation(type, { ...path, from: PAYER, to: US })]), [[1, US, 5_045n, USDC]], type);
  }
});

test('M4 an account is created with its starting balance, and is activated; with none it is activated only', (t) => {
  const created = (starting_balance: string) =>
    decode({ operations: [operation('create_account', { starting_balance, funder: PAYER, account: US })] });
  t.like(created('15.8675013').transfers[0]!, { to: US, amount: 158_675_013n, activates: true });
  const empty = created('0.0000000');
  t.deepEqual([empty.transfers, empty.activations], [[], [{ txid: HASH, to: US }]]);
});

test('M5 a merge pays what its effects say; without effects it is reported, with wrong ones nothing is proven', (t) => {
  const merge = operation('account_merge', { account: PAYER, into: US });
  t.deepEqual(
    credits([merge], { effects: [effect('account_removed', { account: PAYER }), effect('account_credited')] }),
    [[1, US, 35_000_000n, null]],
  );
  t.regex(decode({ operations: [merge] }).ignored[0]!.reason, /effects/);
  t.throws(() => credits([merge], { effects: [effect('account_credited', { account: PAYER })] }), {
    instanceOf: ChainUnavailable,
  });
  t.throws(() => credits([merge], { effects: [effect('account_credited', { id: '1-1' })] }), {
    instanceOf: ChainUnavailable,
  });
});

test('M6 a claimable balance pays when it is claimed, not when it is created; clawbacks pay nobody', (t) => {
  const claim = operation('claim_claimable_balance', { balance_id: '00', claimant: US });
  t.deepEqual(
    credits([claim], { effects: [effect('claimable_balance_claimed', { asset: USDC, asset_type: undefined })] }),
    [[1, US, 35_000_000n, USDC]],
  );
  t.deepEqual(
    credits([claim], {
      effects: [
        effect('claimable_balance_claimed', { asset: USDC, asset_type: undefined }),
        effect('account_credited', asset),
      ],
    }),
    [[1, US, 35_000_000n, USDC]],
  );
  for (const type of ['create_claimable_balance', 'clawback', 'clawback_claimable_balance', 'revoke_sponsorship'])
    t.deepEqual(credits([operation(type, { asset: 'native', amount: '1.0', from: US })], { effects: [] }), [], type);
});

test('M7 M16 M18 offers, pools, inflation, trust lines and flags are no payments', (t) => {
  for (const type of [
    'inflation',
    'liquidity_pool_withdraw',
    'manage_sell_offer',
    'manage_buy_offer',
    'change_trust',
    'allow_trust',
    'set_trust_line_flags',
    'set_options',
  ]) {
    t.deepEqual(decode({ operations: [operation(type)] }), {
      transfers: [],
      ignored: [{ txid: HASH, reason: `${type}: no payment` }],
    });
  }
});

test('M8 M9 M11 transfers and mints of listed assets in a contract call count; the rest does not', (t) => {
  const change = (fields: object) => ({
    ...asset,
    type: 'transfer',
    from: PAYER,
    to: US,
    amount: '2.0000000',
    ...fields,
  });
  const call = operation('invoke_host_function', {
    asset_balance_changes: [
      change({}),
      change({ type: 'mint', from: '' }),
      change({ to: CONTRACT }),
      change({ type: 'burn' }),
      change({ type: 'clawback' }),
      change({ asset_type: 'native', amount: '0.0000001' }),
      change({ asset_issuer: PAYER }),
      change({ from: US }),
    ],
  });
  t.deepEqual(credits([call]), [
    [1_000_000, US, 20_000_000n, USDC],
    [1_000_001, US, 20_000_000n, USDC],
    [1_000_005, US, 1n, null],
  ]);
  t.is(decode({ operations: [call] }).ignored.length, 5);
  t.deepEqual(credits([operation('invoke_host_function')]), []);
  const tagged = operation('invoke_host_function', {
    asset_balance_changes: [
      change({ destination_muxed_id_type: 'uint64', destination_muxed_id: '18446744073709551615' }),
    ],
  });
  t.is(decode({ operations: [tagged] }).transfers[0]!.tag, '18446744073709551615');
});

test('M10 amounts that are negative, above int64 or of more than seven places are malformed', (t) => {
  for (const amount of ['-1.0000000', '922337203685.4775808', '1.00000001', '1e5', 'x', '', 1]) {
    t.throws(() => credits([payment({ amount })]), { instanceOf: MalformedReply }, String(amount));
  }
  t.deepEqual(credits([payment({ amount: '922337203685.4775807' })]), [[1, US, 2n ** 63n - 1n, null]]);
});

test('M13 C8-65 C8-67 a muxed destination is its account; the id is the tag, before a memo id', (t) => {
  const tag = (fields: object, transactions: unknown = null) =>
    decode({ operations: [payment(fields)], transactions }).transfers.map(({ to, tag: found }) => [to, found]);
  t.deepEqual(tag({ to_muxed: US_MUXED_420, to_muxed_id: '420' }), [[US, '420']]);
  t.deepEqual(tag({ to: US_MUXED_420 }), [[US, '420']]);
  const memo = (memo_type: string, text?: string) => [{ hash: HASH, memo_type, memo: text }];
  t.deepEqual(tag({}, memo('id', '18446744073709551615')), [[US, '18446744073709551615']]);
  t.deepEqual(tag({}, memo('text', '12')), [[US, null]]);
  t.deepEqual(tag({}, memo('none')), [[US, null]]);
  t.deepEqual(tag({ to_muxed_id: '420' }, memo('id', '7')), [[US, '420']]);
  t.deepEqual(tag({ transaction: { hash: HASH, memo_type: 'id', memo: '9' } }), [[US, '9']]);
});

test('M14 the index is the place in the transaction, counted from 0', (t) => {
  t.is(operationIndexOf('150661852106629126'), 5);
  t.is(operationIndexOf('12884905985'), 0);
  for (const id of ['0', '12884905984', 'x', undefined])
    t.throws(() => operationIndexOf(id), { instanceOf: MalformedReply });
});

test('M15 G3 a fee bump is keyed by its outer hash and keeps the inner one', (t) => {
  const bump = answer('nodes/xlm/transaction_fee_bump.json') as { hash: string; inner_transaction: { hash: string } };
  for (const transaction_hash of [bump.hash, bump.inner_transaction.hash]) {
    const [paid] = decode({ operations: [payment({ transaction_hash })], transactions: [bump] }).transfers;
    t.like(paid!, { txid: bump.hash, innerTxid: bump.inner_transaction.hash });
  }
  const outcomes = outcomesIn(
    stellar,
    blockOf({ operations: [payment({ transaction_hash: bump.hash })], transactions: [bump] }),
    new Set([bump.inner_transaction.hash]),
  );
  t.deepEqual(outcomes, [{ txid: bump.inner_transaction.hash, success: true, reason: null, fee: 200n }]);
});

test('G22 zero amounts and payments to itself are none', (t) => {
  t.deepEqual(decode({ operations: [payment({ amount: '0.0000000' })] }).ignored, [
    { txid: HASH, reason: 'zero amount' },
  ]);
  t.regex(decode({ operations: [payment({ from: US })] }).ignored[0]!.reason, /^to itself/);
});

test('C2-21 9.4-4 an operation that is listed twice is one payment', (t) => {
  t.is(credits([payment(), payment()]).length, 1);
});

test('G8 answers of another shape prove nothing; an empty ledger is empty', (t) => {
  t.deepEqual(decode({ operations: { _embedded: { records: [] } } }), { transfers: [], ignored: [] });
  for (const operations of [
    null,
    {},
    { _embedded: {} },
    'x',
    [null],
    [payment({ transaction_hash: 'x' })],
    [payment({ to: 'GBAD' })],
    [payment({ from: undefined })],
  ]) {
    t.throws(() => decode({ operations }), { instanceOf: MalformedReply });
  }
});

test('G4 property: any amount of stroops is read exactly', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (stroops) => {
        const amount = `${stroops / 10_000_000n}.${(stroops % 10_000_000n).toString().padStart(7, '0')}`;
        t.deepEqual(credits([payment({ amount })]), [[1, US, stroops, null]]);
      }),
    ),
  );
});
