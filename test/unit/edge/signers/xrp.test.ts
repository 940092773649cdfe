/** Decisions 6, chains.md 1.6, R18: a cloud that lies about anything gets no signature. */
import test from 'ava';
import fc from 'fast-check';
import { decode, encode } from 'ripple-binary-codec';
import { hashes, verifySignature } from 'xrpl';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import { withTransferFee } from '../../../../chains/xrp/issued-amount.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { decodeSigned, matchSigned } from '../../../../chains/xrp/signed.ts';
import {
  encodeUnsigned,
  decodeUnsigned,
  type XrpPayment,
  type XrpTransaction,
  type XrpTrustSet,
} from '../../../../chains/xrp/transaction.ts';
import { buildUnsigned, feePartsOf, reprice } from '../../../../chains/xrp/unsigned.ts';
import { xrpSigner } from '../../../../edge/signing/signers/xrp.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { inputsOf, tokenStateOf } from '../../../support/xrp-inputs.ts';
import { addressAt, must, ours } from '../../../support/xrp-node.ts';

const US = ours(0, 0),
  TANK = ours(1, 0),
  TREASURY = ours(1, 1),
  OTHER = ours(0, 1);
const SHOP = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
  ATTACKER = 'rwEcK2kRntGkzULqYndeHW1Qq32zeK5fwG';
const THIEF = 'r36yxStAh7qgTQNHTzjZvXybCTzUFhrfav';
const USDC = catalogueOf('xrp').get('5553444300000000000000000000000000000000:rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE')!;
const RLUSD = catalogueOf('xrp').get('524C555344000000000000000000000000000000:rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De')!;
const ONE = 10n ** 15n;

const policyOf = (more: Partial<SigningPolicy> & { signed?: string[]; underKey?: string[] } = {}): SigningPolicy => ({
  ...feeBoundsOf(xrp.slug),
  sweepDestinations: [TREASURY.address],
  gasTank: TANK.address,
  catalogue: catalogueOf('xrp'),
  addressAt,
  replayWindow: null,
  nowMs: Date.parse('2025-02-12T00:16:10Z'),
  journal: {
    forInstruction: more.signed ?? [],
    withReplayKey: () => [...(more.signed ?? []), ...(more.underKey ?? [])],
  },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'xrp',
  from: US.address,
  fromPath: US.path,
  to: SHOP,
  toPath: null,
  amount: 2_000_000n,
  token: null,
  tag: '7',
  ...more,
});

/** What an honest cloud builds for an instruction. */
function honest(instruction: Instruction, more: Parameters<typeof inputsOf>[0] = {}): Unsigned {
  const { from, fromPath, to, amount, token, tag, purpose } = instruction;
  const intent: Intent = {
    chain: 'xrp',
    from,
    fromPath,
    to,
    amount,
    token,
    tag,
    kind: purpose === 'opt_in' ? 'trustline' : 'payment',
  };
  const state = purpose === 'opt_in' ? { senderLine: null, destinationLine: null } : {};
  return must(
    buildUnsigned(xrp, inputsOf({ ...(token === null ? {} : { token: tokenStateOf(state) }), ...more }), intent, {
      kind: 'sequence',
      value: '7',
    }),
  );
}
const transactionOf = ({ payload }: Unsigned): XrpTransaction =>
  must(decodeUnsigned(payload) as { ok: true; transaction: XrpTransaction }).transaction;

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(
  unsigned: Unsigned,
  change: Partial<XrpPayment> | Partial<XrpTrustSet>,
  summary: Partial<Unsigned> = {},
): Unsigned {
  const transaction = { ...transactionOf(unsigned), ...change } as XrpTransaction,
    isPayment = transaction.type === 'Payment';
  return {
    ...unsigned,
    payload: encodeUnsigned(transaction),
    to: isPayment ? transaction.destination : transaction.account,
    amount: isPayment ? transaction.amount : 0n,
    tokenContract: transaction.tokenContract,
    tag: isPayment ? (transaction.destinationTag?.toString() ?? null) : null,
    feeMax: transaction.feeDrops,
    fee: feePartsOf(transaction),
    replayKey: { kind: 'sequence', value: String(transaction.sequence) },
    ...summary,
  };
}
/** A payload of fields that the codec can write and we do not build. */
function raw(unsigned: Unsigned, change: Record<string, unknown>): Unsigned {
  const { tx_json } = JSON.parse(unsigned.payload) as { tx_json: Record<string, unknown> };
  const fields = Object.fromEntries(
    Object.entries({ ...tx_json, ...change }).filter(([, value]) => value !== undefined),
  );
  const tx_blob = encode(fields);
  return { ...unsigned, payload: JSON.stringify({ tx_json: decode(tx_blob), tx_blob }) };
}
const check = (unsigned: Unsigned, instruction: Instruction, policy = policyOf()) =>
  xrpSigner.check(xrp, unsigned, instruction, policy);
const reason = (unsigned: Unsigned, instruction: Instruction, policy = policyOf()) =>
  check(unsigned, instruction, policy)?.details['reason'] ?? null;
const found = (unsigned: Unsigned, instruction: Instruction) => check(unsigned, instruction)?.details['found'];

const native = instructionOf(),
  token = instructionOf({ token: USDC, amount: 5n * ONE });
const optIn = instructionOf({ purpose: 'opt_in', to: US.address, token: RLUSD, amount: 0n, tag: null });

test("1.6 an honest payload passes and is signed: the signature is the sender's over exactly these fields, by the SDK's own check", (t) => {
  for (const instruction of [
    native,
    token,
    instructionOf({ amount: 'all', tag: null }),
    instructionOf({ token: USDC, amount: 'all' }),
    optIn,
  ]) {
    const unsigned = honest(instruction);
    t.is(check(unsigned, instruction), null);
    const signed = xrpSigner.sign(xrp, unsigned, US.key);
    t.is(matchSigned(xrp, unsigned, signed), null);
    t.true(verifySignature(signed.payload));
    t.is(hashes.hashSignedTx(signed.payload), signed.txid);
    const {
      TxnSignature: _signature,
      SigningPubKey: _key,
      ...fields
    } = decode(signed.payload) as Record<string, unknown>;
    const { SigningPubKey: _empty, ...asked } = (JSON.parse(unsigned.payload) as { tx_json: Record<string, unknown> })
      .tx_json;
    t.deepEqual(fields, asked);
    t.deepEqual(xrpSigner.sign(xrp, unsigned, US.key), signed, 'RFC 6979: the same bytes every time');
  }
});

test('R18 lie: destination', (t) => {
  for (const instruction of [native, token]) {
    t.is(reason(lie(honest(instruction), { destination: THIEF }), instruction), 'destination_mismatch');
    t.is(reason(lie(honest(instruction), { destination: THIEF }, { to: SHOP }), instruction), 'destination_mismatch');
    t.is(reason({ ...honest(instruction), to: THIEF }, instruction), 'summary_mismatch');
  }
  t.is(
    reason(lie(honest(native), { destination: US.address }), instructionOf({ to: US.address })),
    'payment_to_oneself',
  );
});

test('R18 C8-62 lie: destination tag', (t) => {
  for (const destinationTag of [null, 0, 8, 4_294_967_295])
    t.is(reason(lie(honest(native), { destinationTag }), native), 'tag_mismatch', String(destinationTag));
  const untagged = instructionOf({ tag: null });
  t.is(reason(lie(honest(untagged), { destinationTag: 0 }), untagged), 'tag_mismatch', 'tag 0 is a tag');
  t.is(reason({ ...honest(native), tag: '8' }, native), 'summary_mismatch');
});

test('1.6-4 R18 lie: amount', (t) => {
  t.is(reason(lie(honest(native), { amount: 2_000_001n }), native), 'amount_mismatch');
  t.is(reason(lie(honest(native), { amount: 1_999_999n }), native), 'amount_mismatch');
  t.is(reason(lie(honest(token), { amount: 6n * ONE }), token), 'amount_mismatch');
  t.is(reason({ ...honest(native), amount: 5n }, native), 'summary_mismatch');
  const all = instructionOf({ amount: 'all' });
  t.is(reason(lie(honest(all), { amount: 0n }), all), 'amount_mismatch');
  t.is(reason({ ...honest(native), sendAll: true }, native), 'summary_mismatch');
});

test('R11 lie: a token amount is the one that was asked for, rounded down to 15 digits and not otherwise', (t) => {
  const long = instructionOf({ token: USDC, amount: 12_345_678_901_234_567n });
  t.is(reason(honest(long), long), null);
  t.is(reason(lie(honest(long), { amount: 12_345_678_901_234_600n }), long), 'amount_mismatch', 'rounded up');
  t.is(reason(lie(honest(long), { amount: 12_345_678_901_230_000n }), long), 'amount_mismatch', 'rounded further');
});

test('R18 lie: asset', (t) => {
  t.is(reason(lie(honest(token), { tokenContract: RLUSD.contract }), token), 'token_mismatch');
  t.is(reason(honest(native), token), 'token_mismatch', 'XRP instead of a token');
  t.is(reason(honest(token), native), 'token_mismatch', 'a token instead of XRP');
  t.is(reason({ ...honest(token), tokenContract: null }, token), 'summary_mismatch');
  t.is(reason(honest(token), token, policyOf({ catalogue: new Map() })), 'token_not_in_registry');
  t.is(reason(honest(token), instructionOf({ ...token, token: { ...USDC, decimals: 6 } })), 'token_not_in_registry');
  t.is(reason(raw(honest(token), { Amount: { mpt_issuance_id: '00'.repeat(24), value: '5' } }), token), 'amount');
});

test('R28 lie: more may leave than arrives only in the same token and within what an issuer can keep, and it is shown', (t) => {
  const taxed = honest(token, {
    token: tokenStateOf({ issuer: { ...tokenStateOf().issuer!, transferRate: '1002000000' } }),
  });
  t.is(reason(taxed, token), null);
  t.is(reason({ ...taxed, fee: { ...taxed.fee, sendMax: '5' } }, token), 'fee_mismatch');
  const { sendMax: _hidden, ...hidden } = taxed.fee;
  t.is(reason({ ...taxed, fee: hidden }, token), 'fee_mismatch');
  const half = withTransferFee(5n * ONE, 1_500_000_000n),
    all = withTransferFee(5n * ONE, 2_000_000_000n);
  t.is(reason(lie(taxed, { sendMax: half }), token), null);
  t.is(reason(lie(taxed, { sendMax: all }), token, policyOf({ feeRatioBpsMax: 10_000 })), null);
  t.is(reason(lie(taxed, { sendMax: withTransferFee(5n * ONE, 2_000_000_000n) + ONE }), token), 'send_max');
  t.is(reason(lie(taxed, { sendMax: 5n * ONE }), token), 'send_max', 'no share, no SendMax');
  for (const SendMax of [
    '50000000',
    { currency: 'USD', issuer: SHOP, value: '6' },
    { currency: '5553444300000000000000000000000000000000', issuer: SHOP, value: '6' },
  ]) {
    t.is(reason(raw(taxed, { SendMax }), token), 'send_max');
  }
  t.is(reason(raw(honest(native), { SendMax: '5000000' }), native), 'send_max');
});

test('found F2 R28: what an issuer keeps of its token is a fee in the unit of the amount: it has a share', (t) => {
  const kept = (rate: string, asked = token, policy = policyOf()) => {
    const issuer = { ...tokenStateOf().issuer!, transferRate: rate };
    return check(honest(asked, { token: tokenStateOf({ issuer }) }), asked, policy);
  };
  t.is(kept('1500000000'), null);
  const refused = kept('1500001000');
  t.like(refused?.details, {
    reason: 'fee_ratio',
    setting: 'EDGE_FEE_RATIO_BPS',
    bound: ((5n * ONE) / 2n).toString(),
    ratioBps: 5_000,
  });
  t.is(kept('2000000000')?.details['reason'], 'fee_ratio', 'a rate that was raised to the highest');
  t.is(kept('2000000000', token, policyOf({ feeRatioBpsMax: 10_000 })), null, 'the setting decides');
  const sweep = instructionOf({
    purpose: 'sweep',
    to: TREASURY.address,
    amount: 5n * ONE,
    tag: null,
    token: { ...USDC, feeOnTransfer: true },
  });
  const ofSweeps = policyOf({ ...feeBoundsOf(xrp.slug, undefined, true) });
  t.is(kept('1100000000', sweep, ofSweeps), null);
  t.is(kept('1100001000', sweep, ofSweeps)?.details['setting'], 'EDGE_SWEEP_FEE_RATIO_BPS');
});

test('R18 R3 lie: flags', (t) => {
  t.is(reason(raw(honest(native), { Flags: 0x8002_0000 }), native), 'partial_payment');
  t.is(reason(raw(honest(token), { Flags: 0x0002_0000 }), token), 'partial_payment');
  for (const Flags of [undefined, 0, 0x8001_0000, 0x8004_0000, 0xffff_0000 & ~0x0002_0000])
    t.is(reason(raw(honest(native), { Flags: Flags === undefined ? undefined : Flags >>> 0 }), native), 'flags');
  t.is(reason(raw(honest(optIn), { Flags: 0x8000_0000 }), optIn), 'flags', 'a line without NoRipple (R13)');
  t.is(reason(raw(honest(optIn), { Flags: 0x8012_0000 }), optIn), 'flags');
});

/** Fields that change who owns the account or what a payment does. */
const FOREIGN: Readonly<Record<string, unknown>> = {
  Paths: [[{ account: THIEF }]],
  Memos: [{ Memo: { MemoData: 'AB' } }],
  DeliverMin: '1',
  InvoiceID: 'AB'.repeat(32),
  SourceTag: 5,
  AccountTxnID: 'AB'.repeat(32),
  NetworkID: 0,
  RegularKey: THIEF,
  SignerQuorum: 1,
  SignerEntries: [{ SignerEntry: { Account: THIEF, SignerWeight: 1 } }],
  SetFlag: 4,
  TransferRate: 2_000_000_000,
  Domain: 'AB',
  Owner: THIEF,
  TicketCount: 5,
  Delegate: THIEF,
  CredentialIDs: ['AB'.repeat(32)],
};
for (const [field, value] of Object.entries(FOREIGN)) {
  test(`1.6-4 1.6-6 R18 lie: a field that is not ours: ${field}`, (t) => {
    t.is(reason(raw(honest(native), { [field]: value }), native), 'field_not_allowed');
    t.is(found(raw(honest(native), { [field]: value }), native), field);
    t.is(reason(raw(honest(optIn), { [field]: value }), optIn), 'field_not_allowed');
  });
}

for (const type of [
  'AccountDelete',
  'AccountSet',
  'SetRegularKey',
  'SignerListSet',
  'TicketCreate',
  'CheckCreate',
  'EscrowCreate',
  'PaymentChannelCreate',
  'OfferCreate',
  'DepositPreauth',
  'AMMDeposit',
  'DelegateSet',
]) {
  test(`R18 lie: a transaction of the kind ${type}`, (t) => {
    for (const instruction of [native, token, optIn]) {
      const refused = raw(honest(instruction), { TransactionType: type });
      t.is(reason(refused, instruction), 'transaction_type');
      t.is(found(refused, instruction), type);
    }
  });
}

test('R18 lie: a trust line for a payment, a payment for a trust line', (t) => {
  t.is(reason(honest(optIn), { ...native, to: US.address, token: RLUSD }), 'transaction_type');
  t.is(reason(honest(native), { ...optIn, token: null }), 'transaction_type');
});

test('R27 lie: the limit, the token and the holder of a trust line', (t) => {
  t.is(reason(lie(honest(optIn), { limit: 10n ** 30n + 10n ** 20n }), optIn), 'limit_mismatch');
  t.is(reason(lie(honest(optIn), { limit: 0n }), optIn), 'limit_mismatch');
  t.is(reason(lie(honest(optIn), { tokenContract: USDC.contract }), optIn), 'token_mismatch');
  t.is(reason(honest(optIn), { ...optIn, to: SHOP }), 'destination_mismatch');
  t.is(reason({ ...honest(optIn), amount: 1n }, optIn), 'summary_mismatch');
  t.is(reason({ ...honest(optIn), kind: 'payment' }, optIn), 'summary_mismatch');
});

test('1.6-5 R18 G29 lie: fee', (t) => {
  t.is(reason(lie(honest(native), { feeDrops: 5_001n }), native), 'fee_cap');
  t.is(reason(lie(honest(native), { feeDrops: 5_000n }), native), null);
  t.is(reason(lie(honest(native), { feeDrops: 5_000n }, { feeMax: 12n }), native), 'fee_mismatch');
  t.is(
    reason({ ...honest(native), fee: { ...honest(native).fee, feeDrops: '1' } }, native),
    'fee_mismatch',
    'what was shown is what is signed',
  );
  t.is(reason({ ...honest(native), fee: { ...honest(native).fee, refund: '1' } }, native), 'fee_mismatch');
  t.is(
    reason(lie(honest(native), { feeDrops: 1_000_001n }), native, policyOf({ feeCap: 10n ** 9n })),
    'fee_cap',
    'the hard bound of an XRP',
  );
  t.is(
    reason(
      lie(honest(native), { feeDrops: 1_000_000n }),
      native,
      policyOf({ feeCap: 10n ** 9n, feePriceCap: 10n ** 9n }),
    ),
    null,
  );
  const small = instructionOf({ amount: 100_000n });
  t.is(reason(honest(small), small, policyOf({ feeRatioBpsMax: 1, feeFloor: 0n })), 'fee_ratio');
  t.is(reason(honest(native), native, policyOf({ feeRatioBpsMax: 1 })), null);
});

test('R18 R19 1.6-8 lie: expiry', (t) => {
  t.is(reason(lie(honest(native), { lastLedgerSequence: 90_000_076 }), native), 'expiry');
  t.is(reason(lie(honest(native), { lastLedgerSequence: 90_000_075 }), native), null);
  t.is(reason(lie(honest(native), { lastLedgerSequence: 90_000_000 }), native), 'expiry');
  t.is(reason(raw(honest(native), { LastLedgerSequence: undefined }), native), 'no_expiry');
  t.is(
    reason(lie(honest(native), { lastLedgerSequence: 90_000_050 }, { fee: honest(native).fee }), native),
    'fee_mismatch',
  );
});

test('R21 1.6-7 lie: sequence', (t) => {
  t.is(
    reason(lie(honest(native), { sequence: 8 }, { replayKey: { kind: 'sequence', value: '7' } }), native),
    'sequence_mismatch',
  );
  t.is(reason({ ...honest(native), replayKey: { kind: 'nonce', value: 7 } }, native), 'sequence_mismatch');
  const window = policyOf({ replayWindow: { from: 7n, to: 23n } });
  t.deepEqual(
    [7, 23, 24, 6].map((sequence) => reason(lie(honest(native), { sequence }), native, window)),
    [null, null, 'sequence_outside_window', 'sequence_outside_window'],
  );
  t.is(
    reason(lie(honest(native), { sequence: 6, byTicket: true }), native, window),
    null,
    'a ticket is behind by its nature',
  );
  t.is(reason(lie(honest(native), { sequence: 99, byTicket: true }), native, window), 'sequence_outside_window');
  for (const change of [{ Sequence: 0 }, { Sequence: 7, TicketSequence: 5 }])
    t.is(reason(raw(honest(native), change), native), 'sequence');
});

test('R17 lie: bytes that are signed, that are not canonical, that are none, or whose text says something else', (t) => {
  const signed = xrpSigner.sign(xrp, honest(native), US.key);
  t.is(
    reason(
      { ...honest(native), payload: JSON.stringify({ tx_json: decode(signed.payload), tx_blob: signed.payload }) },
      native,
    ),
    'signed',
  );
  t.is(reason(raw(honest(native), { SigningPubKey: '02'.repeat(33) }), native), 'signed');
  const { tx_json, tx_blob } = JSON.parse(honest(native).payload) as {
    tx_json: Record<string, unknown>;
    tx_blob: string;
  };
  t.is(
    reason(
      { ...honest(native), payload: JSON.stringify({ tx_json: { ...tx_json, Destination: THIEF }, tx_blob }) },
      native,
    ),
    'not_canonical',
  );
  t.is(
    reason({ ...honest(native), payload: JSON.stringify({ tx_json, tx_blob: tx_blob.toLowerCase() }) }, native),
    'not_canonical',
  );
  t.is(reason({ ...honest(native), payload: JSON.stringify({ tx_json, tx_blob, more: 1 }) }, native), 'not_canonical');
  for (const payload of ['', 'junk', '{}', '{"tx_blob":"12"}', signed.payload])
    t.is(reason({ ...honest(native), payload }, native), 'not_canonical', payload.slice(0, 20));
});

test('1.6-2 lie: from, its path, the account of the bytes, and the key that is given', (t) => {
  t.is(reason({ ...honest(native), from: THIEF }, native), 'from_mismatch');
  t.is(reason({ ...honest(native), fromPath: OTHER.path }, native), 'from_path_mismatch');
  t.is(reason({ ...honest(native), chain: 'xlm' }, native), 'chain_mismatch');
  t.is(reason(lie(honest(native), { account: OTHER.address }), native), 'account_mismatch');
  t.throws(() => xrpSigner.sign(xrp, honest(native), OTHER.key), { message: /not that of the sender/ });
  t.throws(() => xrpSigner.sign(xrp, lie(honest(native), { account: OTHER.address }), US.key), {
    message: /not that of the sender/,
  });
  t.throws(() => xrpSigner.sign(xrp, honest(native), US.key, OTHER.key), { message: /one signer/ });
  t.throws(() => xrpSigner.sign(xrp, { ...honest(native), payload: '{}' }, US.key), { message: /does not decode/ });
});

test('1.6-3 sweeps go to the re-derived treasury, gas funding from the tank to a derived address; nothing is cancelled here', (t) => {
  const sweep = instructionOf({ purpose: 'sweep', to: TREASURY.address, amount: 'all', tag: null });
  t.is(reason(honest(sweep), sweep), null);
  const stolen = instructionOf({ purpose: 'sweep', to: THIEF, amount: 'all', tag: null });
  t.is(reason(honest(stolen), stolen), 'sweep_destination_not_allowed');
  t.is(reason(honest(stolen), stolen, policyOf({ sweepDestinations: [THIEF] })), null);
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: TANK.address,
    fromPath: TANK.path,
    to: US.address,
    toPath: US.path,
    tag: null,
  });
  t.is(reason(honest(funding), funding), null);
  t.is(reason(honest({ ...funding, to: THIEF }), { ...funding, to: THIEF }), 'funding_destination_not_derived');
  t.is(reason(honest(native), { ...native, purpose: 'gas_funding', toPath: OTHER.path }), 'not_the_gas_tank');
  t.is(reason(honest(native), { ...native, purpose: 'cancel', to: US.address }), 'not_an_xrp_instruction');
});

test('8.1 nothing is sent to an account without a key, nor a token to its issuer, whoever asks', (t) => {
  for (const to of ['rrrrrrrrrrrrrrrrrrrrrhoLvTp', 'rrrrrrrrrrrrrrrrrrrrBZbvji'])
    t.is(reason(honest(instructionOf({ to })), instructionOf({ to })), 'destination_refused');
  const issuer = USDC.contract.split(':')[1]!,
    redeems = instructionOf({ token: USDC, amount: 5n * ONE, to: issuer });
  t.is(reason(lie(honest(token), { destination: issuer }), redeems), 'destination_refused');
});

test('1.6-7 G27 R20 one instruction is signed under one sequence; a later version differs in fee and expiry only', (t) => {
  for (const instruction of [native, token, optIn]) {
    const first = honest(instruction),
      state = instruction.token === null ? {} : { token: tokenStateOf() };
    t.is(reason(first, instruction, policyOf({ signed: [first.payload] })), null, 'the same bytes again');
    const dearer = must(reprice(xrp, first, inputsOf({ readAtHeight: 90_000_010, ...state })));
    t.is(reason(dearer, instruction, policyOf({ signed: [first.payload] })), null);
    t.is(
      reason(lie(first, { sequence: 8 }), instruction, policyOf({ signed: [first.payload] })),
      'instruction_signed_before',
      'both could land',
    );
    t.is(
      reason(lie(first, { byTicket: true }), instruction, policyOf({ signed: [first.payload] })),
      'instruction_signed_before',
    );
    t.is(reason(first, instruction, policyOf({ underKey: [lie(first, { feeDrops: 14n }).payload] })), 'sequence_used');
    t.is(reason(first, instruction, policyOf({ signed: ['junk'] })), 'instruction_signed_before');
  }
  const bigger = instructionOf({ amount: 3_000_000n });
  t.is(reason(honest(bigger), bigger, policyOf({ signed: [honest(native).payload] })), 'replacement_differs');
  const elsewhere = instructionOf({ to: TANK.address });
  t.is(reason(honest(elsewhere), elsewhere, policyOf({ signed: [honest(native).payload] })), 'replacement_differs');
});

test('decisions 6 R20 a send-all of XRP may be repriced downwards, never up; one of a token stays', (t) => {
  const all = instructionOf({ amount: 'all' }),
    first = honest(all);
  const lower = must(reprice(xrp, first, inputsOf()));
  t.is(reason(lower, all, policyOf({ signed: [first.payload] })), null);
  t.is(reason(first, all, policyOf({ signed: [lower.payload] })), 'replacement_differs');
  const allTokens = instructionOf({ token: USDC, amount: 'all' }),
    whole = honest(allTokens);
  t.is(reason(lie(whole, { amount: ONE }), allTokens, policyOf({ signed: [whole.payload] })), 'replacement_differs');
});

/** Everything that a transaction of ours says, one arbitrary change at a time. */
const mutations = fc.oneof(
  fc.record({ amount: fc.bigInt({ min: 0n, max: 10n ** 17n }) }),
  fc.record({ destination: fc.constantFrom(ATTACKER, THIEF, TANK.address, OTHER.address) }),
  fc.record({ destinationTag: fc.option(fc.nat(0xffff_ffff)) }),
  fc.record({ account: fc.constantFrom(OTHER.address, THIEF) }),
  fc.record({ tokenContract: fc.constantFrom(null, RLUSD.contract, USDC.contract) }),
  fc.record({ feeDrops: fc.bigInt({ min: 0n, max: 10n ** 12n }) }),
  fc.record({ sequence: fc.integer({ min: 1, max: 0xffff_ffff }) }),
  fc.record({ lastLedgerSequence: fc.integer({ min: 1, max: 0xffff_ffff }) }),
  fc.record({ sendMax: fc.option(fc.bigInt({ min: 1n, max: 10n ** 15n })) }),
  fc.record({ byTicket: fc.boolean() }),
);

test('1.6-1 R18 property: bytes that were changed in any way and a summary that was not get no signature', (t) => {
  for (const instruction of [native, token]) {
    const unsigned = honest(instruction),
      before = unsigned.payload;
    fc.assert(
      fc.property(mutations, (change) => {
        let payload: string;
        // no such bytes
        try {
          payload = encodeUnsigned({ ...transactionOf(unsigned), ...change } as XrpTransaction);
        } catch {
          return;
        }
        t.is(check({ ...unsigned, payload }, instruction) === null, payload === before);
      }),
      { numRuns: 300 },
    );
  }
});

test('1.6-1 R18 property: a changed transaction whose summary goes along passes only if it pays the same to the same', (t) => {
  for (const instruction of [native, token]) {
    fc.assert(
      fc.property(mutations, (change) => {
        let unsigned: Unsigned;
        try {
          unsigned = lie(honest(instruction), change as Partial<XrpPayment>);
        } catch {
          return;
        }
        if (check(unsigned, instruction) !== null) return;
        const { destination, destinationTag, amount, tokenContract, account, feeDrops, lastLedgerSequence } =
          transactionOf(unsigned) as XrpPayment;
        t.deepEqual(
          [destination, String(destinationTag), amount, tokenContract, account],
          [SHOP, instruction.tag, instruction.amount, instruction.token?.contract ?? null, US.address],
        );
        t.true(feeDrops <= xrp.feeCap && lastLedgerSequence - unsigned.readAtHeight <= 75);
      }),
      { numRuns: 300 },
    );
  }
});

test('1.6-1 R17 no flipped digit of the bytes gets a signature: each digit, each other value', (t) => {
  const unsigned = honest(native),
    { tx_blob } = JSON.parse(unsigned.payload) as { tx_blob: string };
  for (let place = 0; place < tx_blob.length * 15; place += 1) {
    const at = Math.floor(place / 15),
      by = 1 + (place % 15);
    const flipped = ((parseInt(tx_blob[at]!, 16) + by) % 16).toString(16).toUpperCase(),
      blob = tx_blob.slice(0, at) + flipped + tx_blob.slice(at + 1);
    let shown: unknown = {};
    try {
      shown = decode(blob);
    } catch {
      /* no transaction at all */
    }
    t.not(
      check({ ...unsigned, payload: JSON.stringify({ tx_json: shown, tx_blob: blob }) }, native),
      null,
      `${at} ${by}`,
    );
  }
});

test('G28 signed bytes match their payload, and only theirs: chain, txid, key, signature and fields', (t) => {
  const unsigned = honest(native),
    signed = xrpSigner.sign(xrp, unsigned, US.key);
  const why = (change: object, built = unsigned) =>
    matchSigned(xrp, built, { ...signed, ...change })?.details['reason'] ?? null;
  t.is(why({}), null);
  t.is(why({ chain: 'xlm' }), 'chain_mismatch');
  t.is(why({ txid: signed.txid.toLowerCase() }), 'txid_mismatch');
  t.is(why({}, lie(unsigned, { amount: 1n })), 'payload_mismatch');
  const fields = decode(signed.payload) as Record<string, unknown>;
  t.is(why({ payload: encode({ ...fields, Amount: '5' }) }), 'signature');
  t.is(
    why({ payload: encode({ ...fields, SigningPubKey: Buffer.from(decodeKey()).toString('hex').toUpperCase() }) }),
    'signer_mismatch',
  );
  t.is(why({ payload: encode({ ...fields, SigningPubKey: '05'.repeat(33) }) }), 'public_key');
  t.is(why({ payload: encode({ ...fields, TxnSignature: 'AB' }) }), 'signature');
  t.is(
    why({ payload: encode({ ...fields, TxnSignature: highS(String(fields['TxnSignature'])) }) }),
    'signature',
    'a signature that was bent is none',
  );
  t.is(why({ payload: (JSON.parse(unsigned.payload) as { tx_blob: string }).tx_blob }), 'not_signed');
  t.is(why({ payload: signed.payload.toLowerCase() }), 'not_canonical');
  t.is(why({ payload: 'FF' }), 'unreadable');
  t.true(decodeSigned(signed.payload).ok);
});

/** Public key of another account. */
function decodeKey(): Uint8Array {
  const { payload } = xrpSigner.sign(
    xrp,
    lie({ ...honest(native), from: OTHER.address }, { account: OTHER.address }),
    OTHER.key,
  );
  return Buffer.from(String((decode(payload) as Record<string, unknown>)['SigningPubKey']), 'hex');
}

/** The other half of the curve: s becomes n − s. */
function highS(der: string): string {
  const bytes = Buffer.from(der, 'hex'),
    rLength = bytes[3]!,
    r = bytes.subarray(4, 4 + rLength),
    s = bytes.subarray(6 + rLength);
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const other = (n - BigInt(`0x${s.toString('hex')}`)).toString(16).padStart(64, '0'),
    sBytes = Buffer.from(`00${other}`, 'hex');
  const body = Buffer.concat([Buffer.of(2, r.length), r, Buffer.of(2, sBytes.length), sBytes]);
  return Buffer.concat([Buffer.of(0x30, body.length), body])
    .toString('hex')
    .toUpperCase();
}

test("R19 1.6-8 a height that the ledger cannot have reached by this edge's clock bounds no expiry: what the cloud read is its own word", (t) => {
  const far = (readAtHeight: number, nowMs?: number) =>
    reason(
      lie(honest(native, { readAtHeight }), { lastLedgerSequence: readAtHeight + 20 }, { readAtHeight }),
      native,
      policyOf(nowMs === undefined ? {} : { nowMs }),
    );
  // Ledgers of the main network and when they closed: test/vectors/nodes/xrp/.
  for (const [height, closed] of [
    [90_150_378, '2024-08-18T23:21:42Z'],
    [94_084_608, '2025-02-12T00:16:10Z'],
  ] as const)
    t.is(far(height, Date.parse(closed)), null);
  t.is(far(1_000), null, 'a young network of a sandbox');
  const yearLater = Date.parse('2026-02-12T00:16:10Z');
  t.is(far(94_084_608 + Math.round((365 * 86_400) / 3.9), yearLater), null);
  t.is(far(94_084_608 + 365 * 86_400, yearLater), 'expiry', 'a ledger a second');
  t.is(far(2_000_000_000, yearLater), 'expiry');
  t.is(far(4_294_967_000, yearLater), 'expiry');
  const { nowMs: _clock, ...without } = policyOf();
  t.is(reason(honest(native), native, without), 'no_clock');
});
