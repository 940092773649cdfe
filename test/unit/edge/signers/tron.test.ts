/** Decisions 6, chains.md 1.6, T13, T16 to T18: a cloud that lies about anything gets no signature. */
import test from 'ava';
import fc from 'fast-check';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Network, Unsigned } from '../../../../chains/chain.ts';
import { addressOf } from '../../../../chains/tron/address.ts';
import { bandwidthBytesOf } from '../../../../chains/tron/fee.ts';
import { tron } from '../../../../chains/tron/network.ts';
import {
  decodeRaw,
  encodeRaw,
  txidOf,
  type RawData,
  type TronContract,
} from '../../../../chains/tron/raw-transaction.ts';
import { decodeSigned, matchSigned } from '../../../../chains/tron/signed.ts';
import { addressWord, encodeTransfer } from '../../../../chains/tron/trc20.ts';
import { buildUnsigned } from '../../../../chains/tron/unsigned.ts';
import { tronSigner } from '../../../../edge/signing/signers/tron.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { messageOf } from '../../../../developer/stand-ins/tron/wire.ts';
import { HEAD_MS, inputsOf } from '../../../support/tron-inputs.ts';
import { addressAt, must, own, SENDER, SHOP, TRX } from '../../../support/tron-ledger.ts';

const TANK = own(0, 1),
  TREASURY = own(1, 1).address;
const ATTACKER = addressOf(Buffer.from('an attacker in Tron!'));
const catalogue = catalogueOf('tron');
const USDT = catalogue.get('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')!;
const HOUR_MS = 3_600_000;

type More = Partial<SigningPolicy> & { signed?: string[]; underKey?: string[] };
const policyOf = ({ signed = [], underKey = [], ...more }: More = {}): SigningPolicy => ({
  ...feeBoundsOf(tron.slug),
  sweepDestinations: [TREASURY],
  gasTank: TANK.address,
  catalogue,
  addressAt,
  replayWindow: null,
  nowMs: HEAD_MS,
  journal: { forInstruction: signed, withReplayKey: () => [...signed, ...underKey] },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'tron',
  from: SENDER.address,
  fromPath: SENDER.path,
  to: SHOP,
  toPath: null,
  amount: TRX,
  token: null,
  tag: null,
  ...more,
});

/** What an honest cloud builds for an instruction. */
function honest(
  { from, fromPath, to, amount, token }: Instruction,
  more: Parameters<typeof inputsOf>[0] = {},
): Unsigned {
  const tokenInputs = { tokenBalance: '5000000', tried: { kind: 'succeeded', energy: '65000' } } as const;
  const inputs = inputsOf({ nativeBalance: '50000000', ...(token === null ? {} : tokenInputs), ...more });
  return must(buildUnsigned(tron, inputs, { chain: 'tron', from, fromPath, to, amount, token, tag: null }, null));
}
const rawOf = ({ payload }: Unsigned): RawData => {
  const read = decodeRaw(payload);
  if (!read.ok) throw new Error(read.reason);
  return read.raw;
};

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(
  unsigned: Unsigned,
  change: Partial<Omit<RawData, 'contract'>> & { contract?: Partial<TronContract> },
  summary: Partial<Unsigned> = {},
): Unsigned {
  const { contract, ...around } = change,
    raw = rawOf(unsigned);
  const told = { ...raw, ...around, contract: { ...raw.contract, ...contract } as TronContract },
    payload = encodeRaw(told);
  const bandwidthBytes = bandwidthBytesOf(payload),
    feeLimit = told.feeLimit;
  const fee = {
    ...unsigned.fee,
    bandwidthBytes: String(bandwidthBytes),
    bandwidthFeeMax: String(bandwidthBytes * 1_000n),
    feeLimit: String(feeLimit),
  };
  const feeMax = feeLimit + bandwidthBytes * 1_000n + BigInt(unsigned.fee['activationFee']!);
  return {
    ...unsigned,
    payload,
    fee,
    feeMax,
    replayKey: { kind: 'expiry', value: String(told.expirationMs) },
    ...summary,
  };
}
const reason = (unsigned: Unsigned, instruction: Instruction, policy = policyOf(), network: Network = tron) =>
  tronSigner.check(network, unsigned, instruction, policy)?.details['reason'] ?? null;

const native = instructionOf(),
  token = instructionOf({ token: USDT, amount: 1_000n });

test('1.6 T13 an honest payload passes and is signed: one signature over exactly these bytes, of the sender', (t) => {
  for (const instruction of [
    native,
    token,
    instructionOf({ amount: 'all' }),
    instructionOf({ amount: 'all', token: USDT }),
  ]) {
    const unsigned = honest(instruction);
    t.is(tronSigner.check(tron, unsigned, instruction, policyOf()), null);
    const signed = tronSigner.sign(tron, unsigned, SENDER.key);
    t.is(matchSigned(tron, unsigned, signed), null);
    t.like(decodeSigned({}, signed.payload), {
      ok: true,
      payload: unsigned.payload,
      from: SENDER.address,
      txid: txidOf(unsigned.payload),
    });
    t.is(signed.txid, txidOf(unsigned.payload));
  }
});

test('T16 lie: destination', (t) => {
  t.is(reason(lie(honest(native), { contract: { to: ATTACKER } }, { to: ATTACKER }), native), 'destination_mismatch');
  t.is(reason(lie(honest(native), { contract: { to: ATTACKER } }), native), 'destination_mismatch');
  t.is(
    reason(lie(honest(token), { contract: { data: encodeTransfer(ATTACKER, 1_000n) } }, { to: ATTACKER }), token),
    'destination_mismatch',
  );
  t.is(reason({ ...honest(native), to: ATTACKER }, native), 'summary_mismatch');
});

test('T16 lie: amount', (t) => {
  t.is(
    reason(lie(honest(native), { contract: { amount: TRX + 1n } }, { amount: TRX + 1n }), native),
    'amount_mismatch',
  );
  t.is(
    reason(lie(honest(native), { contract: { amount: TRX - 1n } }, { amount: TRX - 1n }), native),
    'amount_mismatch',
  );
  t.is(
    reason(lie(honest(token), { contract: { data: encodeTransfer(SHOP, 2_000n) } }, { amount: 2_000n }), token),
    'amount_mismatch',
  );
  t.is(reason({ ...honest(native), amount: 5n }, native), 'summary_mismatch');
  const all = instructionOf({ amount: 'all' });
  t.is(reason(lie(honest(all), { contract: { amount: 0n } }, { amount: 0n }), all), 'amount_mismatch');
  t.is(reason(honest(native), instructionOf({ amount: 0n })), 'amount_mismatch');
});

test('T16 lie: owner', (t) => {
  t.is(reason(lie(honest(native), { contract: { owner: own(1).address } }), native), 'owner_mismatch');
  t.is(reason(lie(honest(token), { contract: { owner: ATTACKER } }), token), 'owner_mismatch');
});

test('T16 lie: kind of contract, token, TRX or a TRC-10 asset beside the token', (t) => {
  const other = catalogue.get('TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8')!;
  t.is(reason(honest(token), native), 'contract_type', 'a token instead of TRX');
  t.is(reason(honest(native), token), 'contract_type', 'TRX instead of a token');
  t.is(
    reason(lie(honest(token), { contract: { contract: other.contract } }, { tokenContract: other.contract }), token),
    'token_mismatch',
  );
  t.is(reason(lie(honest(token), { contract: { callValue: 1n } }), token), 'value_beside_token');
  t.is(reason(lie(honest(token), { contract: { callTokenValue: 1n } }), token), 'asset_beside_token');
  t.is(reason(lie(honest(token), { contract: { tokenId: 1_000_001n } }), token), 'asset_beside_token');
  t.is(reason({ ...honest(token), tokenContract: null }, token), 'summary_mismatch');
  const unlisted = instructionOf({ token: { ...USDT, decimals: 18 }, amount: 1_000n });
  t.is(reason(honest(unlisted), unlisted), 'token_not_in_registry');
  t.is(reason(honest(token), token, policyOf({ catalogue: new Map() })), 'token_not_in_registry');
});

test("T16 delegations of resources are read, and nobody's instruction asks for one", (t) => {
  const { refBlockBytes, refBlockHash, expirationMs, timestampMs } = rawOf(honest(native));
  const around = { refBlockBytes, refBlockHash, expirationMs, timestampMs, feeLimit: 0n };
  const delegation = { owner: SENDER.address, resource: 1n, balance: TRX, receiver: SHOP };
  for (const contract of [
    { type: 'DelegateResourceContract', ...delegation, lock: false, lockPeriod: 0n },
    { type: 'UnDelegateResourceContract', ...delegation },
  ] as const) {
    const payload = encodeRaw({ ...around, contract });
    t.true(decodeRaw(payload).ok);
    t.is(reason({ ...honest(native), payload }, native), 'contract_type', contract.type);
  }
});

test('T16 lie: call data', (t) => {
  const data = encodeTransfer(SHOP, 1_000n);
  const dirty = data.replace(addressWord(SHOP), `${'0'.repeat(22)}41${addressWord(SHOP).slice(24)}`);
  for (const wrong of ['', `${data}00`, data.slice(0, -2), `095ea7b3${data.slice(8)}`, dirty]) {
    t.is(reason(lie(honest(token), { contract: { data: wrong } }), token), 'data_not_a_transfer', wrong);
  }
});

test('T13 T16 lie: memo, permission, a second contract, unknown fields, other bytes of the same values', (t) => {
  const { payload } = honest(native),
    bytes = Buffer.from(payload, 'hex');
  // one byte of length
  const at = payload.indexOf('5a', 42) / 2,
    contract = bytes.subarray(at + 2, at + 2 + bytes[at + 1]!);
  const withField = (number: number, value: bigint | Buffer) =>
    Buffer.concat([bytes, messageOf([number, value])]).toString('hex');
  const permission = Buffer.concat([contract, messageOf([5, 2n])]);
  const cases: [string, string][] = [
    [withField(10, Buffer.from('memo')), 'memo'],
    [withField(11, contract), 'contract_count'],
    [withField(99, 1n), 'not_canonical'],
    [withField(12, Buffer.from('scripts')), 'not_canonical'],
    [`${payload}900100`, 'not_canonical'],
    [
      payload.replace(messageOf([11, contract]).toString('hex'), messageOf([11, permission]).toString('hex')),
      'permission_id',
    ],
    ['', 'not_canonical'],
    ['junk', 'not_canonical'],
    [payload.slice(2), 'not_canonical'],
  ];
  for (const [wrong, expected] of cases)
    t.is(reason({ ...honest(native), payload: wrong }, native), expected, expected);
  const signed = tronSigner.sign(tron, honest(native), SENDER.key);
  t.not(reason({ ...honest(native), payload: signed.payload }, native), null, 'signed bytes are no payload');
});

test('T16 G29 lie: fee and fee limit', (t) => {
  const dear = lie(honest(token), { feeLimit: tron.feeCap });
  t.is(reason(dear, token), 'fee_cap');
  t.is(reason({ ...dear, feeMax: 1n }, token), 'fee_mismatch');
  t.is(reason(lie(honest(native), { feeLimit: 1n }), native), 'fee_limit', 'a transfer runs no code');
  t.is(reason(honest(token), token, policyOf({ feeCap: honest(token).feeMax - 1n })), 'fee_cap');
  t.is(reason(honest(token), token, policyOf({ feeCap: honest(token).feeMax })), null);
  t.is(reason(honest(native), native, policyOf({ feeRatioBpsMax: 100, feeFloor: 0n })), 'fee_ratio');
  t.is(reason(honest(native), native, policyOf({ feeRatioBpsMax: 10_000, feeFloor: 0n })), null);
  t.is(reason(honest(token), token, policyOf({ feeRatioBpsMax: 1 })), null, 'the fee is in another asset');
  const { fee } = honest(token);
  for (const part of ['feeLimit', 'bandwidthBytes', 'bandwidthFeeMax', 'activationFee'] as const) {
    t.is(
      reason({ ...honest(token), fee: { ...fee, [part]: String(BigInt(fee[part]!) + 1n) } }, token),
      'fee_mismatch',
      part,
    );
    for (const junk of ['', '-1', '1.5', 'x'])
      t.is(reason({ ...honest(token), fee: { ...fee, [part]: junk } }, token), 'fee_mismatch', `${part} ${junk}`);
  }
  const free = { ...honest(native), fee: { ...honest(native).fee, bandwidthFeeMax: '0' }, feeMax: 0n };
  t.is(reason(free, native), 'fee_mismatch', 'bandwidth that is said to be free would not be counted as spent');
  t.is(reason({ ...honest(native), feeMax: -1n }, native), 'fee_mismatch');
});

test('found F2: what the creation of a destination is said to cost is bounded, and a token creates none', (t) => {
  const stating = (one: Unsigned, sun: bigint): Unsigned => ({
    ...one,
    fee: { ...one.fee, activationFee: String(sun) },
    feeMax: one.feeMax - BigInt(one.fee['activationFee']!) + sun,
  });
  const most = tron.activationSunMax,
    loose = policyOf({ feeRatioBpsMax: 1_000_000, feeCap: most * 1_000n });
  for (const sun of [0n, 1_000_000n, most])
    t.is(reason(stating(honest(native), sun), native, loose), null, String(sun));
  for (const sun of [most + 1n, 60_000_000n, 10n ** 12n])
    t.not(reason(stating(honest(native), sun), native, loose), null, String(sun));
  t.is(reason(stating(honest(token), 0n), token, loose), null);
  for (const sun of [1n, 1_000_000n, most])
    t.is(reason(stating(honest(token), sun), token, loose), 'fee_mismatch', String(sun));
});

test("T16 1.6-8 lie: an expiry that is too far by this edge's own clock, whatever the payload says of the time", (t) => {
  const late = HEAD_MS + HOUR_MS + 1;
  t.is(reason(lie(honest(native), { expirationMs: late }), native), 'expiration_too_far');
  t.is(reason(lie(honest(native), { expirationMs: late - 1 }), native), null);
  const year = 365 * 24 * HOUR_MS;
  t.is(
    reason(lie(honest(native), { expirationMs: HEAD_MS + year, timestampMs: HEAD_MS + year - 600_000 }), native),
    'expiration_too_far',
    'it would lie in wait',
  );
  t.is(
    reason(lie(honest(native), { expirationMs: rawOf(honest(native)).timestampMs }), native),
    'expiration_before_timestamp',
  );
  t.is(
    reason(lie(honest(native), { expirationMs: 0, timestampMs: 0 }), native),
    'expiration_before_timestamp',
    'none at all',
  );
  t.is(reason(lie(honest(native), {}, { replayKey: { kind: 'expiry', value: '1' } }), native), 'expiry_mismatch');
  t.is(reason({ ...honest(native), replayKey: { kind: 'nonce', value: 1 } }, native), 'expiry_mismatch');
  const { nowMs: _nowMs, ...clockless } = policyOf();
  t.is(reason(honest(native), native, clockless), 'no_clock');
});

test('1.6-6 lie: another chain', (t) => {
  t.is(reason({ ...honest(native), chain: 'eth' }, native), 'chain_mismatch');
  t.is(reason(honest(native), instructionOf({ chain: 'eth' })), 'chain_mismatch');
});

test('1.6-2 lie: from, its path, and the key that is given', (t) => {
  t.is(reason({ ...honest(native), from: ATTACKER }, native), 'from_mismatch');
  t.is(reason({ ...honest(native), fromPath: own(1).path }, native), 'from_path_mismatch');
  const foreign = instructionOf({ from: ATTACKER });
  t.is(reason({ ...honest(native), from: ATTACKER }, foreign), 'from_mismatch');
  t.throws(() => tronSigner.sign(tron, honest(native), own(1).key), { message: /not that of the sender/ });
  t.throws(() => tronSigner.sign(tron, honest(native), SENDER.key, own(1).key), { message: /one signer/ });
  t.throws(() => tronSigner.sign(tron, { ...honest(native), payload: '0a' }, SENDER.key), {
    message: /does not decode/,
  });
});

test('1.6-3 sweeps go to the re-derived treasury or the allow-list, gas funding from the tank to a derived address', (t) => {
  const sweep = instructionOf({ purpose: 'sweep', to: TREASURY, amount: 'all' });
  t.is(reason(honest(sweep), sweep), null);
  const stolen = instructionOf({ purpose: 'sweep', to: ATTACKER, amount: 'all' });
  t.is(reason(honest(stolen), stolen), 'sweep_destination_not_allowed');
  t.is(reason(honest(stolen), stolen, policyOf({ sweepDestinations: [TREASURY, ATTACKER] })), null);
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: TANK.address,
    fromPath: TANK.path,
    to: SENDER.address,
    toPath: SENDER.path,
  });
  t.is(reason(honest(funding), funding), null);
  t.is(reason(honest({ ...funding, to: ATTACKER }), { ...funding, to: ATTACKER }), 'funding_destination_not_derived');
  t.is(reason(honest({ ...funding, toPath: null }), { ...funding, toPath: null }), 'funding_destination_not_derived');
  t.is(reason(honest(native), { ...native, purpose: 'gas_funding', toPath: SENDER.path }), 'not_the_gas_tank');
});

test('6.1 nothing is sent to the zero account, a token contract or oneself, whoever asks', (t) => {
  for (const to of ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', USDT.contract])
    t.is(reason(honest(instructionOf({ to })), instructionOf({ to })), 'destination_refused');
  const oneself = lie(honest(native), { contract: { to: SENDER.address } }, { to: SENDER.address });
  t.is(reason(oneself, instructionOf({ to: SENDER.address })), 'destination_refused');
});

test('1.6-7 T17 an instruction is signed with one payload for ever: nothing makes a second one exclude it', (t) => {
  const first = honest(native);
  t.is(reason(first, native, policyOf({ signed: [first.payload] })), null, 'the same bytes again');
  const again = honest(native, { timestampMs: HEAD_MS + 18 });
  t.not(again.payload, first.payload);
  t.is(reason(again, native, policyOf({ signed: [first.payload] })), 'instruction_signed_before');
  const later = honest(native, { headTimeMs: HEAD_MS + HOUR_MS / 2, timestampMs: HEAD_MS + HOUR_MS / 2 });
  t.is(
    reason(later, native, policyOf({ signed: [first.payload] })),
    'instruction_signed_before',
    'also after the first has expired: its death is not proven here',
  );
});

test('1.6-7 T18 a payload pays one instruction: equal bytes would be one transaction', (t) => {
  const first = honest(native);
  t.is(reason(first, instructionOf({ id: 'txn_2' }), policyOf({ underKey: [first.payload] })), 'payload_used');
  const other = honest(native, { timestampMs: HEAD_MS + 18 });
  t.is(
    reason(other, instructionOf({ id: 'txn_2' }), policyOf({ underKey: [first.payload] })),
    null,
    'one expiry may be that of many',
  );
});

test("instructions of other families' kinds are not signed", (t) => {
  t.is(reason(honest(native), instructionOf({ tag: '5' })), 'not_a_tron_instruction');
  t.is(reason(honest(native), instructionOf({ purpose: 'opt_in' })), 'not_a_tron_instruction');
  t.is(reason(honest(native), instructionOf({ purpose: 'cancel', to: SENDER.address })), 'not_a_tron_instruction');
  for (const change of [{ tag: '5' }, { kind: 'trustline' }, { sendAll: true }] as const)
    t.is(reason({ ...honest(native), ...change }, native), 'summary_mismatch');
});

const other = <T>(arbitrary: fc.Arbitrary<T>, than: T) => arbitrary.filter((value) => value !== than);
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(addressOf);
const int = fc.bigInt(0n, 2n ** 62n);
type Change = Parameters<typeof lie>[1];
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => Buffer.from(value).toString('hex'));

function mutation(raw: RawData): fc.Arbitrary<Change> {
  const { contract } = raw,
    ofContract = (field: string, arbitrary: fc.Arbitrary<unknown>) =>
      other(arbitrary, (contract as unknown as Record<string, unknown>)[field]).map((value) => ({
        contract: { [field]: value } as Partial<TronContract>,
      }));
  const called =
    contract.type === 'TriggerSmartContract'
      ? [
          ofContract('contract', address),
          ofContract('callValue', int),
          ofContract('callTokenValue', int),
          ofContract('tokenId', int),
          ofContract('data', hex(68)),
        ]
      : [ofContract('to', address), ofContract('amount', int)];
  return fc.oneof(
    other(hex(2), raw.refBlockBytes).map((refBlockBytes) => ({ refBlockBytes })),
    other(hex(8), raw.refBlockHash).map((refBlockHash) => ({ refBlockHash })),
    other(fc.nat(2 ** 42), raw.expirationMs).map((expirationMs) => ({ expirationMs })),
    other(fc.nat(2 ** 42), raw.timestampMs).map((timestampMs) => ({ timestampMs })),
    other(int, raw.feeLimit).map((feeLimit) => ({ feeLimit })),
    ofContract('owner', address),
    ...called,
  );
}
const scenario = fc.constantFrom(native, token, instructionOf({ amount: 'all' })).chain((instruction) => {
  const unsigned = honest(instruction);
  return mutation(rawOf(unsigned)).map((change) => ({ instruction, unsigned, change }));
});

test('1.6-1 T16 property: any mutation of a field that pays, calls, limits or expires gets no signature', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(scenario, ({ instruction, unsigned, change }) => {
        const { payload } = lie(unsigned, change);
        const passes = tronSigner.check(tron, { ...unsigned, payload }, instruction, policyOf()) === null;
        // The reference block and the stated time move nothing: what they are is the node's to judge (TAPOS), and the
        // txid's.
        const harmless = 'refBlockBytes' in change || 'refBlockHash' in change || 'timestampMs' in change;
        t.true(!passes || harmless, JSON.stringify(Object.keys(change)));
      }),
      { numRuns: 500 },
    ),
  );
});

test('1.6 property: a lie that the summary goes along with passes only in a fee limit below the cap, an earlier expiry, or a lower send-all', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(scenario, ({ instruction, unsigned, change }) => {
        const { contract = {} } = change,
          told: Partial<Unsigned> = {
            ...('to' in contract ? { to: contract.to } : {}),
            ...('amount' in contract ? { amount: contract.amount } : {}),
          } as Partial<Unsigned>;
        const lied = lie(unsigned, change, told),
          passes = tronSigner.check(tron, lied, instruction, policyOf()) === null;
        const raw = rawOf(lied);
        const allowed =
          'refBlockBytes' in change ||
          'refBlockHash' in change ||
          'timestampMs' in change ||
          ('feeLimit' in change && instruction.token !== null && lied.feeMax <= tron.feeCap) ||
          ('expirationMs' in change && raw.expirationMs > raw.timestampMs && raw.expirationMs <= HEAD_MS + HOUR_MS) ||
          ('amount' in contract && instruction.amount === 'all' && lied.amount > 0n);
        t.true(!passes || allowed, JSON.stringify(Object.keys(change)));
      }),
      { numRuns: 500 },
    ),
  );
});

test('1.6-1 property: no flipped byte of what is paid and called gets a signature', (t) => {
  const unsigned = honest(token),
    bytes = Buffer.from(unsigned.payload, 'hex');
  // Between the reference block and the stated time: the expiry and the contract, with every length and key of theirs.
  const from = 14,
    to = bytes.length - 12;
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.integer({ min: from, max: to - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= flip;
        t.not(tronSigner.check(tron, { ...unsigned, payload: changed.toString('hex') }, token, policyOf()), null);
      }),
      { numRuns: 1_000 },
    ),
  );
});

test('G28 matchSigned refuses other bytes, another signer and another txid', (t) => {
  const unsigned = honest(native),
    signed = tronSigner.sign(tron, unsigned, SENDER.key);
  const wrong = (change: object, than: Unsigned = unsigned) =>
    matchSigned(tron, than, { ...signed, ...change })?.details['reason'];
  t.is(wrong({}, honest(instructionOf({ amount: TRX + 1n }))), 'payload_mismatch');
  t.is(wrong({}, { ...unsigned, from: ATTACKER }), 'signer_mismatch');
  t.is(wrong({ txid: '1'.repeat(64) }), 'txid_mismatch');
  t.is(wrong({ chain: 'eth' }), 'chain_mismatch');
  t.is(wrong({ payload: unsigned.payload }), 'unknown_field');
  t.is(wrong({ payload: 'junk' }), 'unreadable');
});
