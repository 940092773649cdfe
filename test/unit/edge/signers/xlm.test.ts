/** Decisions 6, chains.md 1.6, M20: a cloud that lies about anything gets no signature. */
import test from 'ava';
import fc from 'fast-check';
import { Asset, Claimant, Keypair, Operation as Build, TransactionBuilder } from '@stellar/stellar-sdk/base';
import {
  LedgerBounds,
  Memo,
  Operation,
  Preconditions,
  PreconditionsV2,
  TimeBounds,
  Transaction,
  TransactionEnvelope,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import {
  decodePayload,
  encodePayload,
  type Bump,
  type OwnOperation,
  type OwnTransaction,
  type Payload,
} from '../../../../chains/xlm/envelope.ts';
import type { XlmInputs } from '../../../../chains/xlm/inputs.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { matchSigned } from '../../../../chains/xlm/signed.ts';
import { buildUnsigned, feePartsOf, reprice } from '../../../../chains/xlm/unsigned.ts';
import { muxedAccount } from '../../../../chains/xlm/xdr.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { xlmSigner } from '../../../../edge/signing/signers/xlm.ts';
import { person } from '../../../../developer/stand-ins/xlm/people.ts';
import { accountOf, CLOSED_AT, inputsOf, lineOf } from '../../../support/xlm-inputs.ts';
import { addressAt, must, ours, tank, XLM } from '../../../support/xlm-node.ts';

const US = ours(0),
  OTHER = ours(1),
  TREASURY = ours(2);
const SHOP = person(21).publicKey(),
  THIEF = person(66).publicKey(),
  ISSUER = person(12).publicKey();
const USDC = [...catalogueOf('xlm').values()][0]!;
const EURC = { chain: 'xlm', contract: `EURC:${ISSUER}`, symbol: 'EURC', decimals: 7 } as const;
const CATALOGUE = new Map([...catalogueOf('xlm'), [EURC.contract, EURC]]);

const policyOf = (more: Partial<SigningPolicy> & { signed?: string[]; underKey?: string[] } = {}): SigningPolicy => ({
  ...feeBoundsOf(stellar.slug),
  sweepDestinations: [TREASURY.address],
  gasTank: tank.address,
  catalogue: CATALOGUE,
  addressAt,
  replayWindow: null,
  nowMs: CLOSED_AT * 1_000 + 5_000,
  journal: {
    forInstruction: more.signed ?? [],
    withReplayKey: () => [...(more.signed ?? []), ...(more.underKey ?? [])],
  },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'xlm',
  from: US.address,
  fromPath: US.path,
  to: SHOP,
  toPath: null,
  amount: 2n * XLM,
  token: null,
  tag: '7',
  ...more,
});

const native = instructionOf(),
  muxed = instructionOf({ tagOfAddress: true });
const token = instructionOf({ token: USDC, amount: 5n * XLM });
const optIn = instructionOf({ purpose: 'opt_in', to: US.address, token: EURC, amount: 0n, tag: null });
const creates = instructionOf({ to: person(40).publicKey(), tag: null });

/** What the ledger says for an instruction: enough of everything, and the accounts that there are. */
function ledgerFor({ from, to, token: paid }: Instruction, more: Partial<XlmInputs> = {}): XlmInputs {
  const lines = paid === null || paid === EURC ? {} : { [paid.contract]: lineOf({ balance: (100n * XLM).toString() }) };
  const destination = to === creates.to ? null : accountOf({ lines });
  return inputsOf(from, {
    sender: accountOf({ lines }),
    destination,
    issuer: accountOf(),
    payer: accountOf(),
    ...more,
  });
}

/** What an honest cloud builds for an instruction. */
function honest(instruction: Instruction, more: Partial<XlmInputs> = {}): Unsigned {
  const { from, fromPath, to, amount, token: paid, tag, tagOfAddress, purpose } = instruction;
  const kind = purpose === 'opt_in' ? 'trustline' : 'payment';
  const intent: Intent = {
    chain: 'xlm',
    from,
    fromPath,
    to,
    amount,
    token: paid,
    tag,
    kind,
    ...(tagOfAddress ? { tagOfAddress } : {}),
  };
  return must(buildUnsigned(stellar, ledgerFor(instruction, more), intent, { kind: 'sequence', value: '7' }));
}
const sweep = instructionOf({ purpose: 'sweep', to: TREASURY.address, tag: null }),
  tokenSweep = instructionOf({ ...sweep, token: USDC, amount: 5n * XLM });
/** The same, where the gas tank pays for it: a sweep. */
const tankPays = (instruction: Instruction): Unsigned => honest(instruction, { feePayer: tank.address });

function payloadOf({ payload }: Unsigned): Payload {
  const decoded = decodePayload(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.payload;
}

const worthOf = (operation: OwnOperation): bigint =>
  operation.kind === 'payment'
    ? operation.amount
    : operation.kind === 'create_account'
      ? operation.startingBalance
      : 0n;

interface Change {
  readonly transaction?: Partial<OwnTransaction>;
  readonly operation?: object;
  readonly bump?: Bump | null;
}

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(
  unsigned: Unsigned,
  { transaction: changed, operation: part, bump }: Change,
  summary: Partial<Unsigned> = {},
): Unsigned {
  const before = payloadOf(unsigned),
    operation = { ...before.transaction.operation, ...part } as OwnOperation;
  const payload: Payload = {
    transaction: { ...before.transaction, operation, ...changed },
    bump: bump === undefined ? before.bump : bump,
  };
  const { transaction } = payload,
    { memoId, sequence, feeStroops } = transaction;
  const to =
    operation.kind === 'payment'
      ? operation.to
      : { address: operation.kind === 'create_account' ? operation.to : transaction.source, id: null };
  return {
    ...unsigned,
    payload: encodePayload(payload),
    to: to.address,
    amount: worthOf(operation),
    tag: to.id ?? memoId,
    tokenContract: operation.kind === 'create_account' ? null : operation.asset,
    feeMax: payload.bump?.feeStroops ?? BigInt(feeStroops),
    fee: feePartsOf(payload),
    replayKey: { kind: 'sequence', value: sequence.toString() },
    ...summary,
  };
}

function asTransaction({ payload }: Unsigned): Transaction {
  const envelope = TransactionEnvelope.fromXdr(Buffer.from(payload, 'base64'));
  if (envelope.type !== 'envelopeTypeTx') throw new Error(envelope.type);
  return envelope.v1.tx;
}

/** An envelope of fields that the ledger knows and we do not build. */
function raw(unsigned: Unsigned, change: Partial<ConstructorParameters<typeof Transaction>[0]>): Unsigned {
  const { sourceAccount, fee, seqNum, cond, memo, operations, ext } = asTransaction(unsigned);
  const tx = new Transaction({ sourceAccount, fee, seqNum, cond, memo, operations, ext, ...change });
  const bytes = TransactionEnvelope.envelopeTypeTx(new TransactionV1Envelope({ tx, signatures: [] })).toXdr();
  return { ...unsigned, payload: Buffer.from(bytes).toString('base64') };
}
const check = (unsigned: Unsigned, instruction: Instruction, policy = policyOf()) =>
  xlmSigner.check(stellar, unsigned, instruction, policy);
const reason = (unsigned: Unsigned, instruction: Instruction, policy = policyOf()) =>
  check(unsigned, instruction, policy)?.details['reason'] ?? null;

test("1.6 M15 an honest payload passes and is signed: the signature is the account's over these bytes, by the SDK's own check", (t) => {
  const all = [
    native,
    muxed,
    token,
    creates,
    optIn,
    instructionOf({ amount: 'all' }),
    instructionOf({ token: USDC, amount: 'all' }),
  ];
  for (const instruction of all) {
    const unsigned = honest(instruction);
    t.is(check(unsigned, instruction), null);
    const signed = xlmSigner.sign(stellar, unsigned, US.key);
    t.is(matchSigned(stellar, unsigned, signed), null);
    const read = TransactionBuilder.fromXdr(signed.payload, stellar.identity);
    t.is(Buffer.from(read.hash()).toString('hex'), signed.txid);
    t.true(
      Keypair.fromPublicKey(US.address).verify(
        Buffer.from(read.hash()),
        Buffer.from(read.signatures[0]!.signature.toBytes()),
      ),
    );
    t.deepEqual(xlmSigner.sign(stellar, unsigned, US.key), signed, 'ed25519: the same bytes every time');
  }
});

test('M21 M28 a fee bump is signed by both: the sender inside, who pays for it around', (t) => {
  for (const instruction of [sweep, tokenSweep]) {
    const unsigned = tankPays(instruction);
    t.is(check(unsigned, instruction), null);
    t.deepEqual(xlmSigner.coSigners!(unsigned), [tank.address]);
    const signed = xlmSigner.sign(stellar, unsigned, US.key, tank.key),
      read = TransactionBuilder.fromXdr(signed.payload, stellar.identity);
    t.is(Buffer.from(read.hash()).toString('hex'), signed.txid, 'G3: the outer hash');
    t.true(
      Keypair.fromPublicKey(tank.address).verify(
        Buffer.from(read.hash()),
        Buffer.from(read.signatures[0]!.signature.toBytes()),
      ),
    );
    t.throws(() => xlmSigner.sign(stellar, unsigned, US.key), { message: /not that of the account/ });
    t.throws(() => xlmSigner.sign(stellar, unsigned, tank.key), { message: /not that of the account/ });
  }
  t.deepEqual(xlmSigner.coSigners!(honest(native)), []);
});

test('M20 lie: destination', (t) => {
  for (const instruction of [native, token, creates]) {
    const part = instruction === creates ? THIEF : { address: THIEF, id: null };
    t.is(reason(lie(honest(instruction), { operation: { to: part } }), instruction), 'destination_mismatch');
    t.is(
      reason(lie(honest(instruction), { operation: { to: part } }, { to: instruction.to }), instruction),
      'destination_mismatch',
    );
    t.is(reason({ ...honest(instruction), to: THIEF }, instruction), 'summary_mismatch');
  }
  const oneself = instructionOf({ to: US.address });
  t.is(
    reason(lie(honest(native), { operation: { to: { address: US.address, id: null } } }), oneself),
    'destination_is_the_sender',
  );
  const nobody = instructionOf({ to: 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF' });
  t.is(
    reason(lie(honest(native), { operation: { to: { address: nobody.to, id: null } } }), nobody),
    'destination_refused',
  );
  t.is(reason(honest(native), instructionOf({ to: `${SHOP} ` })), 'destination_mismatch', 'a text that is no account');
});

test('M13 C8-62 C8-65 lie: memo and the id of a muxed account', (t) => {
  for (const memoId of [null, '0', '8', '18446744073709551615'])
    t.is(reason(lie(honest(native), { transaction: { memoId } }), native), 'memo_mismatch', String(memoId));
  const untagged = instructionOf({ tag: null });
  t.is(reason(lie(honest(untagged), { transaction: { memoId: '0' } }), untagged), 'memo_mismatch', 'memo 0 is a memo');
  t.is(reason(lie(honest(untagged), { operation: { to: { address: SHOP, id: '0' } } }), untagged), 'muxed_id_mismatch');
  t.is(reason(lie(honest(muxed), { operation: { to: { address: SHOP, id: '8' } } }), muxed), 'muxed_id_mismatch');
  t.is(reason(lie(honest(muxed), { operation: { to: { address: SHOP, id: null } } }), muxed), 'muxed_id_mismatch');
  t.is(reason(lie(honest(muxed), { transaction: { memoId: '7' } }), muxed), 'memo_mismatch', 'both at once');
  t.is(reason(honest(native), muxed), 'muxed_id_mismatch', 'a memo where the address had the id');
  t.is(reason(honest(muxed), native), 'muxed_id_mismatch');
  t.is(reason({ ...honest(native), tag: '8' }, native), 'summary_mismatch');
});

test('1.6-4 lie: amount', (t) => {
  for (const amount of [0n, 1n, 2n * XLM - 1n, 2n * XLM + 1n, 2n ** 63n - 1n])
    t.is(reason(lie(honest(native), { operation: { amount } }), native), 'amount_mismatch', `${amount}`);
  t.is(reason(lie(honest(token), { operation: { amount: 6n * XLM } }), token), 'amount_mismatch');
  t.is(reason(lie(honest(creates), { operation: { startingBalance: 6n * XLM } }), creates), 'amount_mismatch');
  const all = instructionOf({ amount: 'all' });
  t.is(reason(lie(honest(all), { operation: { amount: 0n } }), all), 'amount_mismatch');
  t.is(reason({ ...honest(native), amount: 5n }, native), 'summary_mismatch');
  t.is(reason({ ...honest(native), sendAll: true }, native), 'summary_mismatch');
});

test('C6-56 lie: asset', (t) => {
  t.is(reason(lie(honest(token), { operation: { asset: EURC.contract } }), token), 'token_mismatch');
  t.is(
    reason(lie(honest(token), { operation: { asset: `USDC:${THIEF}` } }), token),
    'token_mismatch',
    'the same code of another issuer',
  );
  t.is(reason(honest(native), token), 'token_mismatch', 'XLM instead of a token');
  t.is(reason(honest(token), native), 'token_mismatch', 'a token instead of XLM');
  t.is(reason(honest(creates), instructionOf({ to: creates.to, tag: null, token: USDC })), 'token_mismatch');
  t.is(reason({ ...honest(token), tokenContract: null }, token), 'summary_mismatch');
  t.is(reason(honest(token), token, policyOf({ catalogue: new Map() })), 'token_not_in_registry');
  t.is(reason(honest(token), instructionOf({ ...token, token: { ...USDC, decimals: 6 } })), 'token_not_in_registry');
});

test('M26 lie: the asset, the limit and the kind of a trust line', (t) => {
  for (const limit of [0n, 1n, 2n ** 63n - 2n])
    t.is(reason(lie(honest(optIn), { operation: { limit } }), optIn), 'limit_mismatch');
  t.is(reason(lie(honest(optIn), { operation: { asset: USDC.contract } }), optIn), 'token_mismatch');
  t.is(reason(lie(honest(optIn), { transaction: { memoId: '1' } }), optIn), 'memo_mismatch');
  t.is(reason(honest(optIn), { ...optIn, tag: '1' }), 'memo_mismatch');
  t.is(reason({ ...honest(optIn), amount: 1n }, optIn), 'summary_mismatch');
  t.is(reason({ ...honest(optIn), kind: 'payment' }, optIn), 'summary_mismatch');
  t.is(reason({ ...honest(optIn), to: SHOP }, optIn), 'summary_mismatch');
  t.is(
    reason(honest(optIn), { ...native, token: EURC, tag: null }),
    'operation_mismatch',
    'a trust line instead of a payment',
  );
  t.is(reason(lie(honest(native), {}, { kind: 'trustline' }), { ...optIn, token: USDC }), 'operation_mismatch');
  t.is(reason(honest(native), { ...optIn, token: null }), 'operation_mismatch');
});

/** Operations that give an account away, or that pay without a payment. M20, M27. */
const FOREIGN: Readonly<Record<string, Operation>> = {
  setOptions: Build.setOptions({ signer: { ed25519PublicKey: THIEF, weight: 1 } }),
  accountMerge: Build.accountMerge({ destination: THIEF }),
  pathPayment: Build.pathPaymentStrictSend({
    sendAsset: Asset.native(),
    sendAmount: '2',
    destination: SHOP,
    destAsset: Asset.native(),
    destMin: '1',
  }),
  manageData: Build.manageData({ name: 'config.memo_required', value: '1' }),
  manageOffer: Build.manageSellOffer({
    selling: Asset.native(),
    buying: new Asset('USDC', ISSUER),
    amount: '1',
    price: '1',
  }),
  claimable: Build.createClaimableBalance({ asset: Asset.native(), amount: '1', claimants: [new Claimant(THIEF)] }),
  allowance: Build.setTrustLineFlags({ trustor: SHOP, asset: new Asset('USDC', ISSUER), flags: { authorized: true } }),
  sponsoring: Build.beginSponsoringFutureReserves({ sponsoredId: THIEF }),
  clawback: Build.clawback({ asset: new Asset('USDC', ISSUER), from: SHOP, amount: '1' }),
  bumpSequence: Build.bumpSequence({ bumpTo: '9999' }),
};
for (const [name, operation] of Object.entries(FOREIGN)) {
  test(`M20 M27 lie: an operation that is not ours: ${name}`, (t) => {
    for (const instruction of [native, token, creates, optIn]) {
      const { operations } = asTransaction(honest(instruction));
      t.is(reason(raw(honest(instruction), { operations: [operation] }), instruction), 'operation_type');
      t.is(
        reason(raw(honest(instruction), { operations: [...operations, operation] }), instruction),
        'operation_count',
      );
      t.is(
        reason(raw(honest(instruction), { operations: [operation, ...operations] }), instruction),
        'operation_count',
      );
    }
  });
}

test('M20 lie: the same operation twice, none, one of another source, a line to a pool', (t) => {
  const {
    operations: [own],
  } = asTransaction(honest(native));
  t.is(reason(raw(honest(native), { operations: [own!, own!] }), native), 'operation_count');
  t.is(reason(raw(honest(native), { operations: [] }), native), 'operation_count');
  for (const address of [THIEF, US.address]) {
    const elsewhere = new Operation({ sourceAccount: muxedAccount({ address, id: null }), body: own!.body });
    t.is(reason(raw(honest(native), { operations: [elsewhere] }), native), 'operation_source');
  }
});

test('M19 M20 lie: preconditions, memos and sources that are not ours', (t) => {
  const within = new TimeBounds({ minTime: 0n, maxTime: BigInt(CLOSED_AT + 180) });
  const also = Preconditions.precondV2(
    new PreconditionsV2({
      timeBounds: within,
      ledgerBounds: new LedgerBounds({ minLedger: 0, maxLedger: 0 }),
      minSeqNum: null,
      minSeqAge: 0n,
      minSeqLedgerGap: 0,
      extraSigners: [],
    }),
  );
  t.is(reason(raw(honest(native), { cond: also }), native), 'preconditions');
  t.is(
    reason(raw(honest(native), { cond: Preconditions.precondNone() }), native),
    'preconditions',
    'no time after which it is void',
  );
  const later = Preconditions.precondTime(
    new TimeBounds({ minTime: BigInt(CLOSED_AT + 60), maxTime: BigInt(CLOSED_AT + 180) }),
  );
  t.is(reason(raw(honest(native), { cond: later }), native), 'minimum_time');
  for (const memo of [Memo.memoText('7'), Memo.memoHash(Buffer.alloc(32, 7)), Memo.memoReturn(Buffer.alloc(32, 7))]) {
    t.is(reason(raw(honest(native), { memo }), native), 'memo_type', memo.type);
  }
  t.is(
    reason(raw(honest(native), { sourceAccount: muxedAccount({ address: US.address, id: '1' }) }), native),
    'muxed_source',
  );
});

test('1.6-5 G29 M21 lie: fee', (t) => {
  const feeStroops = Number(stellar.feeCap);
  t.is(reason(lie(honest(native), { transaction: { feeStroops } }), native), null);
  t.is(reason(lie(honest(native), { transaction: { feeStroops: feeStroops + 1 } }), native), 'fee_price_cap');
  t.is(reason(lie(honest(native), { transaction: { feeStroops } }, { feeMax: 100n }), native), 'fee_mismatch');
  t.is(
    reason(lie(honest(native), { transaction: { feeStroops } }, { fee: honest(native).fee }), native),
    'fee_mismatch',
  );
  t.is(reason({ ...honest(native), fee: { ...honest(native).fee, feeSource: tank.address } }, native), 'fee_mismatch');
  const small = instructionOf({ amount: 100_000n });
  t.is(reason(honest(small), small, policyOf({ feeRatioBpsMax: 9, feeFloor: 0n })), 'fee_ratio');
  t.is(reason(honest(small), small, policyOf({ feeRatioBpsMax: 10, feeFloor: 0n })), null);
  t.is(reason(honest(token), token, policyOf({ feeRatioBpsMax: 0 })), null, 'a fee in another coin is no share');
});

test('M21 M28 lie: who pays for a fee bump, and how much', (t) => {
  const bumped = (feeSource: string, feeStroops: bigint) => lie(tankPays(sweep), { bump: { feeSource, feeStroops } });
  t.is(reason(bumped(tank.address, 2n * stellar.feeCap), sweep), null);
  t.is(reason(bumped(tank.address, 2n * stellar.feeCap + 1n), sweep), 'fee_cap', 'a bump counts one operation more');
  t.is(reason(bumped(tank.address, 2n * stellar.feeCap + 1n), sweep, policyOf({ feeCap: 10n ** 6n })), 'fee_price_cap');
  t.is(reason(bumped(US.address, 200n), sweep), 'bump_of_unsigned');
  for (const feeSource of [OTHER.address, THIEF]) t.is(reason(bumped(feeSource, 200n), sweep), 'fee_source_mismatch');
  t.is(reason(bumped(tank.address, 200n), sweep, policyOf({ gasTank: null })), 'fee_source_mismatch');
  const hidden = lie(tankPays(sweep), { transaction: { feeStroops: Number(stellar.feeCap) + 1 } });
  t.is(reason(hidden, sweep), 'fee_price_cap', 'what is inside can be submitted alone');
  t.is(
    reason({ ...tankPays(sweep), payload: honest(sweep).payload }, sweep),
    'fee_mismatch',
    'a bump that is not there',
  );
});

test('found F13 the gas tank pays for the bump of a sweep, and for no payment that a holder of a local key asked for', (t) => {
  for (const instruction of [native, muxed, token, optIn, creates, instructionOf({ amount: 'all', tag: null })]) {
    t.is(reason(tankPays(instruction), instruction), 'fee_source_mismatch', instruction.purpose);
    const own = lie(tankPays(instruction), { bump: { feeSource: US.address, feeStroops: 200n } });
    t.is(
      reason(own, instruction),
      'bump_of_unsigned',
      'found: what is inside of a bump lands alone, under a hash that nobody was given',
    );
    const inside = encodePayload({ ...payloadOf(own), bump: null });
    t.is(
      reason(own, instruction, policyOf({ signed: [inside] })),
      null,
      'the sender may, around what was signed before',
    );
    t.is(reason(own, instruction, policyOf({ signed: [own.payload] })), 'bump_of_unsigned');
  }
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: tank.address,
    fromPath: tank.path,
    to: US.address,
    toPath: US.path,
    tag: null,
  });
  t.is(reason(honest(funding), funding), null);
  t.is(
    reason(lie(honest(funding), { bump: { feeSource: US.address, feeStroops: 200n } }), funding),
    'fee_source_mismatch',
    'who is funded does not pay for it',
  );
});

test('M19 1.6-8 lie: time', (t) => {
  const until = (maxTime: bigint, more = {}) => lie(honest(native), { transaction: { maxTime } }, more);
  const now = BigInt(CLOSED_AT + 5);
  t.is(reason(until(now + 3_600n), native), null);
  t.is(reason(until(now + 3_601n), native), 'expires_too_late');
  t.is(reason(until(2n ** 64n - 1n, { fee: honest(native).fee }), native), 'fee_mismatch');
  t.is(reason(until(0n), native), 'expired', 'no upper bound is the number 0');
  t.is(reason(until(now), native), 'expired');
  const { nowMs: _clock, ...blind } = policyOf();
  t.is(reason(honest(native), native, blind), 'no_clock');
});

test('1.6-7 M19 lie: sequence', (t) => {
  t.is(
    reason(
      lie(honest(native), { transaction: { sequence: 8n } }, { replayKey: { kind: 'sequence', value: '7' } }),
      native,
    ),
    'sequence_mismatch',
  );
  t.is(reason({ ...honest(native), replayKey: { kind: 'nonce', value: 7 } }, native), 'sequence_mismatch');
  const window = policyOf({ replayWindow: { from: 7n, to: 23n } });
  const found = [6n, 7n, 23n, 24n].map((sequence) =>
    reason(lie(honest(native), { transaction: { sequence } }), native, window),
  );
  t.deepEqual(found, ['sequence_out_of_window', null, null, 'sequence_out_of_window']);
});

test('M20 lie: bytes that are signed, that are not canonical, or that are none', (t) => {
  const signed = xlmSigner.sign(stellar, honest(native), US.key);
  t.is(reason({ ...honest(native), payload: signed.payload }, native), 'signed_already');
  const bumped = xlmSigner.sign(stellar, tankPays(sweep), US.key, tank.key);
  t.is(reason({ ...tankPays(sweep), payload: bumped.payload }, sweep), 'signed_already');
  const { payload } = honest(native);
  for (const [text, why] of [
    ['', 'not_canonical'],
    ['junk', 'not_canonical'],
    [Buffer.concat([Buffer.from(payload, 'base64'), Buffer.alloc(4)]).toString('base64'), 'not_canonical'],
    [` ${payload}`, 'not_canonical'],
    [payload.slice(0, -1), 'not_canonical'],
  ] as const) {
    t.is(reason({ ...honest(native), payload: text }, native), why);
  }
});

test('1.6-2 lie: from, its path, the account of the bytes, and the key that is given', (t) => {
  t.is(reason({ ...honest(native), from: THIEF }, native), 'from_mismatch');
  t.is(reason({ ...honest(native), fromPath: OTHER.path }, native), 'from_path_mismatch');
  t.is(reason({ ...honest(native), chain: 'xrp' }, native), 'chain_mismatch');
  t.is(reason(lie(honest(native), { transaction: { source: OTHER.address } }), native), 'source_mismatch');
  t.throws(() => xlmSigner.sign(stellar, honest(native), OTHER.key), { message: /not that of the account/ });
  t.throws(() => xlmSigner.sign(stellar, lie(honest(native), { transaction: { source: OTHER.address } }), OTHER.key), {
    message: /does not verify: the sender is another/,
  });
  t.throws(() => xlmSigner.sign(stellar, { ...honest(native), payload: 'AAAA' }, US.key), {
    message: /does not decode/,
  });
});

test('M29 1.6-3 sweeps go to the re-derived treasury, gas funding from the tank to a derived address; nothing is cancelled here', (t) => {
  const sweep = instructionOf({ purpose: 'sweep', to: TREASURY.address, amount: 'all', tag: null });
  t.is(reason(honest(sweep), sweep), null);
  const stolen = instructionOf({ purpose: 'sweep', to: THIEF, amount: 'all', tag: null });
  t.is(reason(honest(stolen), stolen), 'sweep_destination_not_allowed');
  t.is(reason(honest(stolen), stolen, policyOf({ sweepDestinations: [THIEF] })), null);
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: tank.address,
    fromPath: tank.path,
    to: US.address,
    toPath: US.path,
    tag: null,
  });
  t.is(reason(honest(funding), funding), null);
  t.is(reason(honest(funding, { destination: null }), funding), null, 'M25: an account that is not there is created');
  t.is(reason(honest({ ...funding, to: THIEF }), { ...funding, to: THIEF }), 'funding_destination_not_derived');
  t.is(reason(honest(native), { ...native, purpose: 'gas_funding', toPath: OTHER.path }), 'not_the_gas_tank');
  t.is(reason(honest(native), { ...native, purpose: 'cancel', to: US.address }), 'not_a_stellar_instruction');
});

test('1.6-7 G27 M21 one instruction is signed under one sequence; a later version pays the same', (t) => {
  for (const instruction of [native, muxed, token, creates, optIn]) {
    const first = honest(instruction);
    t.is(reason(first, instruction, policyOf({ signed: [first.payload] })), null, 'the same bytes again');
    const dearer = must(reprice(stellar, first, ledgerFor(instruction)));
    t.not(dearer.payload, first.payload);
    t.is(reason(dearer, instruction, policyOf({ signed: [first.payload] })), null);
    const late = must(reprice(stellar, first, ledgerFor(instruction, { closeTime: CLOSED_AT + 200 })));
    t.is(reason(late, instruction, policyOf({ signed: [first.payload, dearer.payload] })), null);
    t.is(
      reason(lie(first, { transaction: { sequence: 8n } }), instruction, policyOf({ signed: [first.payload] })),
      'instruction_signed_before',
      'both could land',
    );
    t.is(
      reason(first, instruction, policyOf({ underKey: [dearer.payload] })),
      'sequence_used',
      'another instruction has it',
    );
    t.is(reason(first, instruction, policyOf({ signed: ['junk'] })), 'instruction_signed_before');
  }
  const bigger = instructionOf({ amount: 3n * XLM });
  t.is(reason(honest(bigger), bigger, policyOf({ signed: [honest(native).payload] })), 'replacement_differs');
});

test('decisions 6 a send-all may be rebuilt with less, never with more', (t) => {
  const all = instructionOf({ amount: 'all' }),
    first = honest(all);
  const lower = lie(first, { operation: { amount: first.amount - 100n } });
  t.is(reason(lower, all, policyOf({ signed: [first.payload] })), null);
  t.is(reason(first, all, policyOf({ signed: [lower.payload] })), 'replacement_differs');
});

/** Everything that a transaction of ours says, one arbitrary change at a time. */
const stroops = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const someone = fc.constantFrom(THIEF, OTHER.address, SHOP, US.address),
  id = fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String));
const mutations: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    operation: fc.oneof(
      fc.record({ amount: stroops }),
      fc.record({ to: fc.record({ address: someone, id }) }),
      fc.record({ asset: fc.constantFrom(null, USDC.contract, EURC.contract, `USDC:${THIEF}`) }),
      fc.record({ kind: fc.constant('create_account'), to: someone, startingBalance: stroops }),
      fc.record({
        kind: fc.constant('change_trust'),
        asset: fc.constantFrom(USDC.contract, EURC.contract),
        limit: stroops,
      }),
    ),
  }),
  fc.record({
    transaction: fc.oneof<fc.Arbitrary<Partial<OwnTransaction>>[]>(
      fc.record({ source: someone }),
      fc.record({ feeStroops: fc.nat(0xffff_ffff) }),
      fc.record({ sequence: stroops }),
      fc.record({ maxTime: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
      fc.record({ memoId: id }),
    ),
  }),
  fc.record({
    bump: fc.option(
      fc.record({ feeSource: fc.constantFrom(THIEF, OTHER.address, US.address, tank.address), feeStroops: stroops }),
    ),
  }),
);

test('1.6-1 M20 property: bytes that were changed in any way and a summary that was not get no signature', (t) => {
  for (const instruction of [native, muxed, token]) {
    const unsigned = honest(instruction);
    fc.assert(
      fc.property(mutations, (change) => {
        const { payload } = lie(unsigned, change);
        t.is(check({ ...unsigned, payload }, instruction) === null, payload === unsigned.payload);
      }),
      { numRuns: 300 },
    );
  }
});

test('1.6-1 M20 property: a changed transaction whose summary goes along passes only if it pays the same to the same', (t) => {
  for (const instruction of [native, muxed, token]) {
    fc.assert(
      fc.property(mutations, (change) => {
        const unsigned = lie(honest(instruction), change);
        if (check(unsigned, instruction) !== null) return;
        const {
          transaction: { source, operation, memoId, maxTime, feeStroops },
          bump,
        } = payloadOf(unsigned);
        t.not(operation.kind, 'change_trust');
        const to =
          operation.kind === 'payment'
            ? operation.to
            : { address: operation.kind === 'create_account' ? operation.to : '', id: null };
        const paid = {
          to,
          amount: worthOf(operation),
          asset: operation.kind === 'create_account' ? null : operation.asset,
        };
        t.deepEqual(
          [paid.to.address, paid.amount, paid.asset, source],
          [SHOP, instruction.amount, instruction.token?.contract ?? null, US.address],
        );
        t.is(paid.to.id ?? memoId, '7');
        t.true(BigInt(feeStroops) <= stellar.feeCap && maxTime <= BigInt(CLOSED_AT + 5 + 3_600));
        t.is(bump, null);
      }),
      { numRuns: 300 },
    );
  }
});

test('1.6-1 M20 property: no flipped bit of the bytes gets a signature', (t) => {
  const unsigned = honest(native),
    bytes = Buffer.from(unsigned.payload, 'base64');
  fc.assert(
    fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      t.not(check({ ...unsigned, payload: flipped.toString('base64') }, native), null);
    }),
    { numRuns: 600 },
  );
});

test('G28 signed bytes match their payload, and only theirs: chain, network, txid, key, signature and fields', (t) => {
  const unsigned = honest(native),
    signed = xlmSigner.sign(stellar, unsigned, US.key);
  const why = (change: object, built = unsigned) =>
    matchSigned(stellar, built, { ...signed, ...change })?.details['reason'] ?? null;
  t.is(why({}), null);
  t.is(why({ chain: 'xrp' }), 'chain_mismatch');
  t.is(why({ txid: 'ab'.repeat(32) }), 'the txid is not that of the bytes');
  t.is(why({ payload: unsigned.payload }), 'the sender has not signed');
  t.is(why({}, lie(unsigned, { operation: { amount: 1n } })), 'the signed bytes are another transaction');
  const elsewhere = xlmSigner.sign({ ...stellar, identity: 'Test SDF Network ; September 2015' }, unsigned, US.key);
  t.is(
    matchSigned(stellar, unsigned, elsewhere)?.details['reason'],
    'the sender has not signed',
    '1.6-6: the passphrase is in what is signed',
  );
});
