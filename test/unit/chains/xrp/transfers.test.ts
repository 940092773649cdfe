import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Block, type Catalogue, type Token } from '../../../../chains/chain.ts';
import { parseCurrency, issuedAmountOf } from '../../../../chains/xrp/currency.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { outcomesIn, transfersIn, type XrpLedger } from '../../../../chains/xrp/transfers.ts';
import { answer, expectedCases } from '../../../support/vectors.ts';

const none: Catalogue = new Map();
const ISSUER = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De';
const RLUSD = '524C555344000000000000000000000000000000';
const CONTRACT = `${RLUSD}:${ISSUER}`;
const listed: Catalogue = new Map([
  [CONTRACT, { chain: 'xrp', contract: CONTRACT, symbol: 'RLUSD', decimals: 15 } as Token],
]);

const blockOf = (raw: XrpLedger): Block<XrpLedger> => ({
  height: 1,
  hash: '',
  parentHash: '',
  parentHeight: 0,
  timeMs: null,
  raw,
});
const ledgerOf = (...transactions: unknown[]): XrpLedger => ({ validated: true, ledger: { transactions } });
const decode = (raw: XrpLedger, catalogue = none) => transfersIn(xrp, blockOf(raw), catalogue);

/** A recorded answer as a ledger: single transactions come in five shapes. */
function ledgerIn(raw: unknown): XrpLedger {
  const value = raw as Record<string, unknown>;
  return 'ledger' in value ? value : ledgerOf(value);
}

const keyOf = ({ txid, address }: { txid: string; address?: string }) => `${txid} ${address}`;

for (const expected of expectedCases('xrp')) {
  test(`R1 R2 R3 R5 R7 R9 R15 G2 G3 ${expected.case}: exactly the expected credits`, (t) => {
    const { transfers, ignored } = decode(ledgerIn(answer(expected.files[0]!)));
    // What the vectors leave to policy: AccountDelete and EscrowFinish pay (R5), an owner's own conversion does not
    // (G22).
    const decided = expected.policy!.filter(({ type }) => type === 'AccountDelete' || type === 'EscrowFinish');
    t.deepEqual(
      transfers.map(({ txid, outputIndex, to, amount, decimals, tokenContract, tag, activates }) => [
        txid,
        outputIndex,
        to,
        amount.toString(),
        decimals,
        tokenContract,
        tag,
        activates === true,
      ]),
      [...expected.credits!, ...decided].map((credit) => [
        credit.txid,
        0,
        credit.address,
        credit.amount ?? (credit as { balanceChange?: string }).balanceChange,
        6,
        null,
        credit.type === 'EscrowFinish'
          ? '2'
          : credit.tag === null || credit.tag === undefined
            ? null
            : String(credit.tag),
        credit.createsAccount === true,
      ]),
    );
    const credited = new Set(transfers.map(({ txid, to }) => `${txid} ${to}`));
    for (const credit of [
      ...expected.mustNotCredit!,
      ...expected.policy!.filter((entry) => !decided.includes(entry)),
    ]) {
      t.false(credited.has(keyOf(credit)), credit.why);
      t.true(
        ignored.some(({ txid }) => txid === credit.txid),
        credit.why,
      );
    }
  });
}

const US = 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3';
const PAYER = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf';
const HASH = 'AB'.repeat(32);

const root = (Account: string, before: string | null, after: string) =>
  before === null
    ? { CreatedNode: { LedgerEntryType: 'AccountRoot', NewFields: { Account, Balance: after } } }
    : {
        ModifiedNode: {
          LedgerEntryType: 'AccountRoot',
          FinalFields: { Account, Balance: after },
          PreviousFields: { Balance: before },
        },
      };

function line(low: string, high: string, before: string | null, after: string, currency = RLUSD) {
  const fields = {
    Balance: { currency, issuer: 'rrrrrrrrrrrrrrrrrrrrBZbvji', value: after },
    LowLimit: { issuer: low },
    HighLimit: { issuer: high },
  };
  return before === null
    ? { CreatedNode: { LedgerEntryType: 'RippleState', NewFields: fields } }
    : {
        ModifiedNode: {
          LedgerEntryType: 'RippleState',
          FinalFields: fields,
          PreviousFields: { Balance: { ...fields.Balance, value: before } },
        },
      };
}

interface Made {
  type?: string;
  fields?: object;
  delivered?: unknown;
  nodes?: unknown[];
  result?: string;
}

function made(
  { type = 'Payment', fields = {}, delivered, nodes = [root(PAYER, '100', '88')], result = 'tesSUCCESS' }: Made,
  version: 1 | 2 = 1,
): unknown {
  const own = {
    TransactionType: type,
    Account: PAYER,
    Fee: '12',
    ...(type === 'Payment' ? { Destination: US } : {}),
    ...fields,
  };
  const meta = {
    TransactionResult: result,
    AffectedNodes: nodes,
    ...(delivered === undefined ? {} : { delivered_amount: delivered }),
  };
  return version === 1 ? { ...own, hash: HASH.toLowerCase(), metaData: meta } : { tx_json: own, meta, hash: HASH };
}

const amounts = (raw: XrpLedger, catalogue = listed) => decode(raw, catalogue).transfers.map(({ amount }) => amount);

test('R1 C2-22 only a validated ledger is read, and only tesSUCCESS pays', (t) => {
  const paid = made({ delivered: '5', nodes: [root(US, '1', '6')] });
  for (const validated of [undefined, false, 'true']) {
    t.throws(() => decode({ ...ledgerOf(paid), validated }), { instanceOf: ChainUnavailable });
  }
  for (const result of ['tecUNFUNDED_PAYMENT', 'tecPATH_PARTIAL', 'tecNO_DST_INSUF_XRP', 'tesSOMETHING_NEW']) {
    const decoded = decode(ledgerOf(made({ nodes: [root(PAYER, '100', '88')], result })));
    t.deepEqual(decoded, { transfers: [], ignored: [{ txid: HASH, reason: `${result}: only the fee moved` }] });
  }
});

test('R2 R3 C2-26 delivered_amount is credited, never Amount, DeliverMax or SendMax', (t) => {
  const partial = { Amount: '100000000000000000', DeliverMax: '100000000000000000', SendMax: '7', Flags: 0x00020000 };
  t.deepEqual(
    amounts(ledgerOf(made({ fields: partial, delivered: '147413155', nodes: [root(US, '1', '147413156')] }))),
    [147_413_155n],
  );
  const token = { currency: RLUSD, issuer: ISSUER, value: '0.000001' };
  t.deepEqual(
    amounts(
      ledgerOf(
        made({
          fields: { ...partial, Amount: { ...token, value: '5000' } },
          delivered: token,
          nodes: [line(US, ISSUER, '1', '1.000001')],
        }),
      ),
    ),
    [1_000_000_000n],
  );
});

test('R2 R4 "unavailable" and an absent delivered_amount are read from the balances', (t) => {
  for (const delivered of ['unavailable', undefined]) {
    t.deepEqual(amounts(ledgerOf(made({ fields: { Amount: '999' }, delivered, nodes: [root(US, '100', '142')] }))), [
      42n,
    ]);
    t.deepEqual(
      amounts(ledgerOf(made({ fields: { Amount: '999' }, delivered, nodes: [root(PAYER, '100', '42')] }))),
      [],
    );
  }
});

test('R4 a payment whose two readings disagree is not proven', (t) => {
  for (const nodes of [[root(US, '1', '5')], [root(PAYER, '9', '4')]]) {
    t.throws(() => decode(ledgerOf(made({ delivered: '5', nodes }))), {
      instanceOf: ChainUnavailable,
      message: /delivered 5 drops beside/,
    });
  }
});

const OFFER = { ModifiedNode: { LedgerEntryType: 'Offer', FinalFields: { Account: US, TakerGets: '5' } } };

test("found F28: of a listed token the growth of the receiver's own line is credited; without it nothing is proven", (t) => {
  const paid = (value: string, ...nodes: unknown[]) =>
    ledgerOf(
      made({
        fields: { Amount: { currency: RLUSD, issuer: ISSUER, value } },
        delivered: { currency: RLUSD, issuer: ISSUER, value },
        nodes: [root(PAYER, '100', '88'), ...nodes],
      }),
    );
  t.deepEqual(amounts(paid('5', line(US, ISSUER, '1', '6'))), [5_000_000_000_000_000n]);
  t.deepEqual(amounts(paid('5', line(ISSUER, US, '-1', '-6'))), [5_000_000_000_000_000n], 'seen from the other side');
  t.deepEqual(amounts(paid('5', line(US, ISSUER, '1', '5.9'))), [4_900_000_000_000_000n], 'what the line grew by');
  for (const [what, ...nodes] of [
    ['no line'],
    ['the line of another', line(PAYER, ISSUER, '1', '6')],
    ['another issuer', line(US, PAYER, '1', '6')],
    ['another currency', line(US, ISSUER, '1', '6', 'USD')],
    ['the line stood still', line(US, ISSUER, '6', '6')],
    ['the line shrank', line(US, ISSUER, '6', '1')],
  ] as const)
    t.throws(() => decode(paid('5', ...nodes), listed), { instanceOf: ChainUnavailable }, what);
  t.deepEqual(amounts(paid('0.0000001')), [], 'rippled#4359: less than a line can show');
  t.deepEqual(amounts(paid('5'), none), [], 'of an asset that is not listed nothing is asked');
});

test('found F28: result, delivered amount and balances of XRP agree, or nothing is proven; an own offer on the way explains a difference', (t) => {
  const grown = [root(US, '1', '6')];
  t.deepEqual(amounts(ledgerOf(made({ delivered: '5', nodes: grown }))), [5n], 'the control');
  t.throws(() => decode(ledgerOf(made({ delivered: '5', nodes: grown, result: 'tecPATH_DRY' }))), {
    instanceOf: ChainUnavailable,
  });
  t.throws(() => decode(ledgerOf(made({ nodes: grown, result: 'tecPATH_DRY' }))), { instanceOf: ChainUnavailable });
  t.throws(() => decode(ledgerOf(made({ delivered: '5', nodes: grown, fields: { Amount: '4' } }))), {
    instanceOf: ChainUnavailable,
  });
  t.deepEqual(amounts(ledgerOf(made({ delivered: '5', nodes: [root(US, '1', '9'), OFFER] }))), [5n]);
  t.throws(() => decode(ledgerOf(made({ delivered: '5', nodes: [OFFER] }))), { instanceOf: ChainUnavailable });
});

test('R5 escrows, channels and deleted accounts pay whom they name; offers, checks and pools pay nobody', (t) => {
  const escrow = {
    DeletedNode: {
      LedgerEntryType: 'Escrow',
      FinalFields: { Account: PAYER, Destination: US, DestinationTag: 7, Amount: '50' },
    },
  };
  const finished = decode(
    ledgerOf(made({ type: 'EscrowFinish', fields: { Owner: PAYER }, nodes: [escrow, root(US, '100', '150')] })),
  ).transfers[0]!;
  t.like(finished, { to: US, amount: 50n, tag: '7', outputIndex: 0 });
  const byUs = made({ type: 'EscrowFinish', fields: { Account: US }, nodes: [escrow, root(US, '100', '138')] });
  t.deepEqual(amounts(ledgerOf(byUs)), [50n], 'the fee of the receiver is given back');
  const channel = { ModifiedNode: { LedgerEntryType: 'PayChannel', FinalFields: { Account: PAYER, Destination: US } } };
  t.deepEqual(amounts(ledgerOf(made({ type: 'PaymentChannelClaim', nodes: [channel, root(US, '1', '4')] }))), [3n]);
  t.deepEqual(
    amounts(
      ledgerOf(
        made({ type: 'AccountDelete', fields: { Destination: US }, delivered: '9', nodes: [root(US, '1', '10')] }),
      ),
    ),
    [9n],
  );
  for (const type of [
    'OfferCreate',
    'CheckCash',
    'AMMWithdraw',
    'NFTokenAcceptOffer',
    'EscrowCancel',
    'PaymentChannelFund',
  ]) {
    t.deepEqual(amounts(ledgerOf(made({ type, nodes: [root(US, '1', '4')] }))), [], type);
  }
});

test('R6 a check, an escrow or a channel that is opened for us pays nothing yet', (t) => {
  for (const type of ['CheckCreate', 'EscrowCreate', 'PaymentChannelCreate']) {
    const decoded = decode(
      ledgerOf(made({ type, fields: { Destination: US, Amount: '50' }, nodes: [root(PAYER, '100', '38')] })),
    );
    t.deepEqual([decoded.transfers.length, decoded.ignored[0]!.reason], [0, `${type}: nothing arrived`]);
  }
});

test('R7 C8-64 a payment that creates the account is credited whole and activates it', (t) => {
  const [created] = decode(ledgerOf(made({ delivered: '20000000', nodes: [root(US, null, '20000000')] }))).transfers;
  t.like(created!, { amount: 20_000_000n, activates: true });
});

test('R8 a payment below the reserve to a missing account failed', (t) => {
  t.deepEqual(amounts(ledgerOf(made({ fields: { Amount: '5' }, result: 'tecNO_DST_INSUF_XRP' }))), []);
});

test('R9 C8-62 C8-67 tag 0 is a tag, a missing one is null, one above 32 bits is malformed', (t) => {
  const tagged = (DestinationTag: unknown) =>
    decode(ledgerOf(made({ fields: { DestinationTag }, delivered: '5', nodes: [root(US, '0', '5')] }))).transfers[0]!
      .tag;
  t.deepEqual([tagged(0), tagged(4_294_967_295), tagged(undefined)], ['0', '4294967295', null]);
  t.throws(() => tagged(4_294_967_296), { instanceOf: MalformedReply });
});

test('R10 G5 G23 C2-25 an issued currency counts by currency and issuer, from our side of the line', (t) => {
  const value = (amount: string, issuer = ISSUER, currency = RLUSD) => ({ currency, issuer, value: amount });
  t.deepEqual(amounts(ledgerOf(made({ delivered: value('1.5'), nodes: [line(US, ISSUER, '1', '2.5')] }))), [
    1_500_000_000_000_000n,
  ]);
  t.deepEqual(amounts(ledgerOf(made({ delivered: value('1.5', PAYER) }))), []);
  t.deepEqual(amounts(ledgerOf(made({ delivered: value('1.5', ISSUER, 'USD') }))), []);
  t.deepEqual(amounts(ledgerOf(made({ delivered: value('-1') }))), []);
  t.deepEqual(amounts(ledgerOf(made({ delivered: { mpt_issuance_id: '00', value: '5' } }))), [], 'R14');
  const escrow = { DeletedNode: { LedgerEntryType: 'Escrow', FinalFields: { Account: PAYER, Destination: US } } };
  const finish = (...nodes: unknown[]) => amounts(ledgerOf(made({ type: 'EscrowFinish', nodes: [escrow, ...nodes] })));
  t.deepEqual(finish(line(US, ISSUER, '1', '3.5')), [2_500_000_000_000_000n], 'low side');
  t.deepEqual(finish(line(ISSUER, US, '-1', '-3.5')), [2_500_000_000_000_000n], 'high side');
  t.deepEqual(finish(line(ISSUER, US, '-3.5', '-1')), [], 'taken away');
  t.deepEqual(finish(line(US, ISSUER, null, '4')), [4_000_000_000_000_000n], 'a new line');
});

test('R10 an amount "issued by the destination" is read from its lines', (t) => {
  const delivered = { currency: RLUSD, issuer: US, value: '2' };
  t.deepEqual(amounts(ledgerOf(made({ delivered, nodes: [line(US, ISSUER, '1', '3')] }))), [2_000_000_000_000_000n]);
  t.deepEqual(amounts(ledgerOf(made({ delivered, nodes: [line(US, PAYER, '-3', '-1')] }))), [], 'redeemed');
});

test('G1 G2 C2-27 several assets of one transaction: XRP first, then by currency and issuer', (t) => {
  const escrow = { DeletedNode: { LedgerEntryType: 'Escrow', FinalFields: { Account: PAYER, Destination: US } } };
  const { transfers } = decode(
    ledgerOf(made({ type: 'EscrowFinish', nodes: [line(US, ISSUER, '1', '2'), escrow, root(US, '1', '2')] })),
    listed,
  );
  t.deepEqual(
    transfers.map(({ outputIndex, tokenContract }) => [outputIndex, tokenContract]),
    [
      [0, null],
      [1, CONTRACT],
    ],
  );
});

test('R11 R16 issued amounts: scientific text, exact, truncated toward zero at 15 decimals', (t) => {
  const cases: [string, bigint | null][] = [
    ['1', 10n ** 15n],
    ['1.23e11', 123n * 10n ** 24n],
    ['1.23E11', 123n * 10n ** 24n],
    ['0.1', 10n ** 14n],
    ['1e-15', 1n],
    ['1.9e-15', 1n],
    ['-1.9e-15', -1n],
    ['9e-16', 0n],
    ['9999999999999999e80', 9999999999999999n * 10n ** 95n],
    ['0', 0n],
    ['270324.4695317294', 270324469531729400000n],
    ['', null],
    ['1e', null],
    ['0x1', null],
    ['1,5', null],
    ['NaN', null],
    ['1e9999', null],
  ];
  for (const [text, amount] of cases) t.is(issuedAmountOf(text), amount, text);
  t.is(issuedAmountOf(1.5), null);
});

test('R11 property: a text of at most 15 decimals is read exactly', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 31n }), (units) => {
        const text = `${units / 10n ** 15n}.${(units % 10n ** 15n).toString().padStart(15, '0')}`;
        t.is(issuedAmountOf(text), units);
        t.is(issuedAmountOf(`-${text}`), -units);
        t.is(issuedAmountOf(`${units}e-15`), units);
      }),
    ),
  );
});

test('R10 currency codes: three characters, 40 hex digits, and the names that issuers announce', (t) => {
  const cases: [string, string | null][] = [
    ['USD', 'USD'],
    ['XRP', null],
    ['RLUSD', RLUSD],
    [RLUSD.toLowerCase(), RLUSD],
    ['USDC', '5553444300000000000000000000000000000000'],
    ['0000000000000000000000005553440000000000', 'USD'],
    ['0000000000000000000000005852500000000000', null],
    ['0'.repeat(40), null],
    ['', null],
    ['US', null],
    ['a b c', null],
    ['ABCDEFGHIJKLMNOPQRSTU', null],
    ['xrp', 'xrp'],
  ];
  for (const [text, code] of cases) t.is(parseCurrency(text), code, text);
});

test('R12 R13 a line that loses value credits nobody', (t) => {
  const channel = { ModifiedNode: { LedgerEntryType: 'PayChannel', FinalFields: { Account: PAYER, Destination: US } } };
  t.deepEqual(
    amounts(ledgerOf(made({ type: 'PaymentChannelClaim', nodes: [channel, line(US, ISSUER, '5', '1')] }))),
    [],
  );
});

test('R14 G13 unknown transaction and entry types are carried, not fatal', (t) => {
  const strange = { CreatedNode: { LedgerEntryType: 'BrandNew', NewFields: {} } };
  t.deepEqual(
    decode(ledgerOf(made({ type: 'BrandNewTx', nodes: [strange] }))).ignored[0]!.reason,
    'BrandNewTx: no payment to an address',
  );
  t.deepEqual(
    amounts(
      ledgerOf(made({ type: 'VaultWithdraw', fields: { Destination: US }, nodes: [strange, root(US, '1', '3')] })),
    ),
    [2n],
  );
  // A list in the place of the fields, as a network of the same code wrote for an entry of its own: Bithomp/xrpl-api
  // UNLReport2.json.
  const odd = { ModifiedNode: { LedgerEntryType: 'UNLReport', FinalFields: { Flags: 0 }, PreviousFields: [] } };
  t.deepEqual(
    amounts(ledgerOf(made({ type: 'AccountDelete', fields: { Destination: US }, nodes: [odd, root(US, '1', '3')] }))),
    [2n],
  );
  const spoilt = {
    ModifiedNode: { LedgerEntryType: 'AccountRoot', FinalFields: { Account: US, Balance: '3' }, PreviousFields: [] },
  };
  t.throws(() => decode(ledgerOf(made({ type: 'AccountDelete', fields: { Destination: US }, nodes: [spoilt] }))), {
    instanceOf: MalformedReply,
  });
});

test('R15 one drop is a payment', (t) => {
  t.deepEqual(amounts(ledgerOf(made({ delivered: '1', nodes: [root(US, '1', '2')] }))), [1n]);
});

test('G22 the owner that pays itself is no deposit', (t) => {
  const own = made({ fields: { Account: US }, delivered: '5', nodes: [root(US, '1', '6')] });
  t.regex(decode(ledgerOf(own)).ignored[0]!.reason, /^to itself/);
});

test('API versions 1 and 2 read alike', (t) => {
  const one: Made = { fields: { DestinationTag: 9 }, delivered: '5', nodes: [root(US, null, '5')] };
  t.deepEqual(decode(ledgerOf(made(one, 1))), decode(ledgerOf(made(one, 2))));
});

test('G8 a ledger that is not expanded, has no metadata, or names a transaction twice proves nothing', (t) => {
  t.throws(() => decode(ledgerOf(HASH)), { instanceOf: MalformedReply });
  t.throws(() => decode({ validated: true, ledger: {} }), { instanceOf: MalformedReply });
  t.throws(() => decode(ledgerOf({ hash: HASH, TransactionType: 'Payment', Account: PAYER })), {
    instanceOf: ChainUnavailable,
  });
  t.throws(() => decode(ledgerOf({ tx_blob: 'AB', meta: 'AB', hash: HASH })), { instanceOf: MalformedReply });
  t.throws(() => decode(ledgerOf(made({}), made({}))), { instanceOf: MalformedReply });
  t.deepEqual(decode(ledgerOf()), { transfers: [], ignored: [] });
});

test('G26 outcomes name success, the code and the fee', (t) => {
  const raw = ledgerOf(made({ result: 'tecPATH_DRY' }));
  t.deepEqual(outcomesIn(xrp, blockOf(raw), new Set([HASH])), [
    { txid: HASH, success: false, reason: 'tecPATH_DRY', fee: 12n },
  ]);
});

test('R28 of a payment whose issuer keeps a share, what left the sender is what its own line lost, never above its SendMax', (t) => {
  const value = (amount: string) => ({ currency: RLUSD, issuer: ISSUER, value: amount });
  const takenBy = (one: Made) => outcomesIn(xrp, blockOf(ledgerOf(made(one))), new Set([HASH]))[0]!.taken;
  const fields = { Amount: value('10'), SendMax: value('10.02') },
    lost = (after: string) => [line(PAYER, ISSUER, '20', after)];
  t.is(takenBy({ fields, nodes: lost('9.98') }), 10_020_000_000_000_000n);
  t.is(takenBy({ fields, nodes: lost('9.985') }), 10_015_000_000_000_000n, 'less than it may cost');
  t.is(takenBy({ fields, nodes: lost('1') }), 10_020_000_000_000_000n, 'a node that says more than the payment allows');
  t.is(takenBy({ fields, nodes: lost('21') }), undefined);
  t.is(takenBy({ fields, nodes: [] }), undefined);
  t.is(takenBy({ fields: { Amount: value('10') }, nodes: lost('10') }), undefined, 'nobody keeps a share');
  t.is(takenBy({ fields, nodes: lost('9.98'), result: 'tecPATH_PARTIAL' }), undefined);
});
