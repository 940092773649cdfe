/** Decisions 6, chains.md 1.6, V31: a cloud that lies about anything gets no signature. */
import test from 'ava';
import fc from 'fast-check';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { Transaction } from 'ethers/transaction';
import { evmSigner } from '../../../../edge/signing/signers/evm.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import { base, bsc, eth, polygon, type EvmNetwork } from '../../../../chains/evm/network.ts';
import { decodeUnsigned, encodeUnsigned, type EvmTransaction } from '../../../../chains/evm/envelope.ts';
import { encodeTransfer } from '../../../../chains/evm/abi.ts';
import { addressOfHex } from '../../../../chains/evm/address.ts';
import { deriveAddress } from '../../../../chains/evm/derive.ts';
import { matchSigned } from '../../../../chains/evm/signed.ts';
import { buildUnsigned, cancel, reprice } from '../../../../chains/evm/unsigned.ts';
import { catalogueOf } from '../../../../chains/catalogue.ts';
import type { Intent, Network, Unsigned } from '../../../../chains/chain.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { inputsOf, RECIPIENT, SENDER, SENDER_PATH, USDC } from '../../../support/evm-inputs.ts';

const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/60'/0'");
const keyAt = (path: string) => ({ privateKey: account.derive(path.replace("m/44'/60'/0'", 'm')).privateKey! });
const addressAt = (path: string): string | null => {
  const match = /^m\/44'\/60'\/0'\/([01])\/(\d+)$/.exec(path);
  return match === null
    ? null
    : deriveAddress(eth, account.publicExtendedKey, Number(match[1]) as 0 | 1, Number(match[2])).address;
};
const [TANK_PATH, TREASURY_PATH] = ["m/44'/60'/0'/1/0", "m/44'/60'/0'/1/1"];
const TANK = addressAt(TANK_PATH)!,
  TREASURY = addressAt(TREASURY_PATH)!;
const ATTACKER = addressOfHex('000000000000000000000000000000000badbad1');
const GWEI = 1_000_000_000n;

const policyOf = (
  more: Partial<SigningPolicy> & { signed?: string[]; underKey?: string[] } = {},
  network: Network = eth,
): SigningPolicy => ({
  ...feeBoundsOf(network.slug),
  sweepDestinations: [TREASURY],
  gasTank: TANK,
  catalogue: catalogueOf(network.slug),
  addressAt,
  replayWindow: null,
  journal: {
    forInstruction: more.signed ?? [],
    withReplayKey: () => [...(more.signed ?? []), ...(more.underKey ?? [])],
  },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'eth',
  from: SENDER,
  fromPath: SENDER_PATH,
  to: RECIPIENT,
  toPath: null,
  amount: 1_000n,
  token: null,
  tag: null,
  ...more,
});
const tokenInputs = { tokenBalance: '5000', gas: { kind: 'estimated', units: '50000' } } as const;

/** What an honest cloud builds for an instruction. */
function honest(
  instruction: Instruction,
  network: EvmNetwork = eth,
  more: Parameters<typeof inputsOf>[0] = {},
): Unsigned {
  const intent: Intent = {
    chain: network.slug,
    from: instruction.from,
    fromPath: instruction.fromPath,
    to: instruction.to,
    amount: instruction.amount,
    token: instruction.token,
    tag: null,
  };
  const unsigned = buildUnsigned(
    network,
    inputsOf({
      ...(instruction.token === null ? {} : tokenInputs),
      gasPrice: GWEI.toString(),
      ...(network === base ? { baseFeePerGas: (GWEI / 2n).toString() } : {}),
      l1FeeUpperBound: network.l1FeeOracle === null ? null : '1000',
      ...more,
    }),
    intent,
    { kind: 'nonce', value: 7 },
  );
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
}
const transactionOf = ({ payload }: Unsigned): EvmTransaction => {
  const decoded = decodeUnsigned(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.transaction;
};

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(unsigned: Unsigned, change: Partial<EvmTransaction>, summary: Partial<Unsigned> = {}): Unsigned {
  const transaction = { ...transactionOf(unsigned), ...change };
  const { type, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  return {
    ...unsigned,
    payload: encodeUnsigned(transaction),
    ...summary,
    fee: {
      ...unsigned.fee,
      type,
      gasLimit: `${gasLimit}`,
      maxFeePerGas: `${maxFeePerGas}`,
      maxPriorityFeePerGas: `${maxPriorityFeePerGas}`,
    },
    feeMax:
      summary.feeMax ??
      unsigned.feeMax -
        transactionOf(unsigned).gasLimit * transactionOf(unsigned).maxFeePerGas +
        transaction.gasLimit * transaction.maxFeePerGas,
  };
}
const reason = (unsigned: Unsigned, instruction: Instruction, policy = policyOf(), network: Network = eth) =>
  evmSigner.check(network, unsigned, instruction, policy)?.details['reason'] ?? null;

const native = instructionOf(),
  token = instructionOf({ token: USDC });

test("1.6 an honest payload passes and is signed: the signature is the sender's over exactly these bytes", (t) => {
  for (const [network, instruction] of [
    [eth, native],
    [eth, token],
    [eth, instructionOf({ amount: 'all' })],
    [polygon, instructionOf({ chain: 'polygon' })],
    [base, instructionOf({ chain: 'base' })],
    [bsc, instructionOf({ chain: 'bsc' })],
  ] as const) {
    const unsigned = honest(instruction, network);
    t.is(evmSigner.check(network, unsigned, instruction, policyOf({}, network)), null);
    const signed = evmSigner.sign(network, unsigned, keyAt(SENDER_PATH));
    t.is(matchSigned(network, unsigned, signed), null);
    const parsed = Transaction.from(signed.payload);
    t.is(parsed.from, SENDER);
    t.is(parsed.hash, signed.txid);
    t.is(parsed.unsignedSerialized, unsigned.payload);
  }
});

test('5.5 legacy envelopes are signed where the network takes them, and only there', (t) => {
  const instruction = instructionOf({ chain: 'bsc' });
  const legacy = honest(instruction, bsc, { envelope: 'legacy' });
  t.is(evmSigner.check(bsc, legacy, instruction, policyOf({}, bsc)), null);
  t.is(Transaction.from(evmSigner.sign(bsc, legacy, keyAt(SENDER_PATH)).payload).type, 0);
  t.is(
    reason(lie(honest(native), { type: 0, maxPriorityFeePerGas: transactionOf(honest(native)).maxFeePerGas }), native),
    'transaction_type',
  );
});

test('V31 lie: destination', (t) => {
  t.is(reason(lie(honest(native), { to: ATTACKER }, { to: ATTACKER }), native), 'destination_mismatch');
  t.is(reason(lie(honest(native), { to: ATTACKER }), native), 'destination_mismatch');
  t.is(
    reason(lie(honest(token), { data: encodeTransfer(ATTACKER, 1_000n) }, { to: ATTACKER }), token),
    'destination_mismatch',
  );
  t.is(reason({ ...honest(native), to: ATTACKER }, native), 'summary_mismatch');
});

test('V31 lie: amount', (t) => {
  t.is(reason(lie(honest(native), { value: 1_001n }, { amount: 1_001n }), native), 'amount_mismatch');
  t.is(reason(lie(honest(native), { value: 999n }, { amount: 999n }), native), 'amount_mismatch');
  t.is(
    reason(lie(honest(token), { data: encodeTransfer(RECIPIENT, 2_000n) }, { amount: 2_000n }), token),
    'amount_mismatch',
  );
  t.is(reason({ ...honest(native), amount: 5n }, native), 'summary_mismatch');
  const all = instructionOf({ amount: 'all' });
  t.is(reason(lie(honest(all), { value: 0n }, { amount: 0n }), all), 'amount_mismatch');
});

test('V31 lie: token', (t) => {
  const other = addressOfHex('dac17f958d2ee523a2206206994597c13d831ec7');
  t.is(reason(lie(honest(token), { to: other }, { tokenContract: other }), token), 'token_mismatch');
  t.is(reason(honest(native), token), 'token_mismatch', 'native instead of a token');
  t.is(reason(honest(token), native), 'data_not_empty', 'a token instead of native');
  t.is(reason(lie(honest(token), { value: 1n }), token), 'value_beside_token');
  t.is(reason({ ...honest(token), tokenContract: null }, token), 'summary_mismatch');
  const unlisted = instructionOf({ token: { ...USDC, decimals: 18 } });
  t.is(reason(honest(unlisted), unlisted), 'token_not_in_registry');
  t.is(reason(honest(token), token, policyOf({ catalogue: new Map() })), 'token_not_in_registry');
});

test('V31 lie: chain id', (t) => {
  t.is(reason(lie(honest(native), { chainId: 56 }), native), 'chain_id_mismatch');
  t.is(reason({ ...honest(native), chain: 'bsc' }, native), 'chain_mismatch');
  t.is(reason(honest(instructionOf({ chain: 'bsc' }), bsc), native), 'chain_mismatch');
});

test('V31 G29 lie: fee', (t) => {
  const dear = lie(honest(native), { maxFeePerGas: 10_000n * GWEI });
  t.is(reason(dear, native), 'fee_cap');
  t.is(reason(lie(honest(native), { maxFeePerGas: 10_000n * GWEI }, { feeMax: 1n }), native), 'fee_mismatch');
  t.is(reason(lie(honest(native), { gasLimit: 16_777_217n }), native), 'gas_limit');
  t.is(reason(honest(native), native, policyOf({ feeRatioBpsMax: 10_000, feeFloor: 0n })), 'fee_ratio');
  t.is(reason(honest(native), native, policyOf({ feeCap: honest(native).feeMax - 1n })), 'fee_cap');
  t.is(reason(honest(native), native, policyOf({ feeCap: honest(native).feeMax })), null);
  const onBase = instructionOf({ chain: 'base' });
  t.is(
    reason({ ...honest(onBase, base), feeMax: base.feeCap + 1n }, onBase, policyOf({}, base), base),
    'fee_cap',
    'an L1 part over the cap',
  );
  t.is(reason({ ...honest(onBase, base), feeMax: 1n }, onBase, policyOf({}, base), base), 'fee_mismatch');
  t.is(
    reason({ ...honest(native), fee: { ...honest(native).fee, maxPriorityFeePerGas: '1' } }, native),
    'fee_mismatch',
    'what was shown is what is signed',
  );
});

test('V31 lie: nonce', (t) => {
  t.is(reason(lie(honest(native), { nonce: 8 }), native), 'nonce_mismatch');
  const ahead = lie(honest(native), { nonce: 9_000 }, { replayKey: { kind: 'nonce', value: 9_000 } });
  t.is(reason(ahead, native, policyOf({ replayWindow: { from: 7n, to: 23n } })), 'nonce_outside_window');
  t.is(
    reason(
      lie(honest(native), { nonce: 6 }, { replayKey: { kind: 'nonce', value: 6 } }),
      native,
      policyOf({ replayWindow: { from: 7n, to: 23n } }),
    ),
    'nonce_outside_window',
  );
  t.is(reason({ ...honest(native), replayKey: { kind: 'sequence', value: '7' } }, native), 'nonce_mismatch');
});

test('attack: gas that no block takes: the payment would be signed, and keep its like waiting for good', (t) => {
  for (const gasLimit of [0n, 1n, 20_999n])
    t.is(reason(lie(honest(native), { gasLimit }), native), 'gas_below_minimum', `${gasLimit}`);
  t.is(reason(lie(honest(token), { gasLimit: 21_000n }), token), 'gas_below_minimum', 'the call data costs more');
});

test('V31 lie: data', (t) => {
  t.is(reason(lie(honest(native), { data: '0x00' }), native), 'data_not_empty');
  for (const data of [
    '0x',
    `${encodeTransfer(RECIPIENT, 1_000n)}00`,
    encodeTransfer(RECIPIENT, 1_000n).replace('a9059cbb', '095ea7b3'),
    encodeTransfer(RECIPIENT, 1_000n).slice(0, -2),
    encodeTransfer(RECIPIENT, 1_000n).replace('a9059cbb0', 'a9059cbb1'),
  ])
    t.is(reason(lie(honest(token), { data }), token), 'data_not_a_transfer', data);
});

const rawOf = (unsigned: Unsigned) => {
  const { type: _type, maxFeePerGas, maxPriorityFeePerGas, ...fields } = transactionOf(unsigned);
  return { fields, maxFeePerGas, maxPriorityFeePerGas };
};

test('V31 lie: type, creation, access list, signed or unreadable bytes', (t) => {
  const { fields, ...fee } = rawOf(honest(native));
  const as = (raw: object) => ({
    ...honest(native),
    payload: Transaction.from({ ...fields, ...raw }).unsignedSerialized,
  });
  t.is(reason(as({ type: 1, gasPrice: 5n }), native), 'transaction_type');
  t.is(reason(as({ type: 4, ...fee, authorizationList: [] }), native), 'transaction_type');
  t.is(reason(as({ type: 2, ...fee, to: null }), native), 'creation');
  t.is(reason(as({ type: 2, ...fee, accessList: [{ address: ATTACKER, storageKeys: [] }] }), native), 'access_list');
  const signed = evmSigner.sign(eth, honest(native), keyAt(SENDER_PATH));
  t.is(reason({ ...honest(native), payload: signed.payload }, native), 'signed');
  for (const payload of ['', '0x', '0x02', 'junk', '0x02c0'])
    t.truthy(reason({ ...honest(native), payload }, native), payload);
});

test('1.6-2 lie: from, its path, and the key that is given', (t) => {
  t.is(reason({ ...honest(native), from: ATTACKER }, native), 'from_mismatch');
  t.is(reason({ ...honest(native), fromPath: "m/44'/60'/0'/0/1" }, native), 'from_path_mismatch');
  const foreign = instructionOf({ from: ATTACKER });
  t.is(reason({ ...honest(native), from: ATTACKER }, foreign), 'from_mismatch');
  t.is(reason(honest(native), instructionOf({ fromPath: "m/44'/0'/0'/0/0" })), 'from_path_mismatch');
  t.throws(() => evmSigner.sign(eth, honest(native), keyAt("m/44'/60'/0'/0/1")), { message: /not that of the sender/ });
});

test('1.6-3 sweeps go to the re-derived treasury or the allow-list, gas funding from the tank to a derived address', (t) => {
  const sweep = instructionOf({ purpose: 'sweep', to: TREASURY, amount: 'all' });
  t.is(reason(honest(sweep), sweep), null);
  const stolen = instructionOf({ purpose: 'sweep', to: ATTACKER, amount: 'all' });
  t.is(reason(honest(stolen), stolen), 'sweep_destination_not_allowed');
  t.is(reason(honest(stolen), stolen, policyOf({ sweepDestinations: [TREASURY, ATTACKER] })), null);
  const funding = instructionOf({
    purpose: 'gas_funding',
    from: TANK,
    fromPath: TANK_PATH,
    to: SENDER,
    toPath: SENDER_PATH,
  });
  t.is(reason(honest(funding), funding), null);
  t.is(reason(honest({ ...funding, to: ATTACKER }), { ...funding, to: ATTACKER }), 'funding_destination_not_derived');
  t.is(reason(honest({ ...funding, toPath: null }), { ...funding, toPath: null }), 'funding_destination_not_derived');
  t.is(reason(honest(native), { ...native, purpose: 'gas_funding', toPath: SENDER_PATH }), 'not_the_gas_tank');
});

test('5.1 nothing is sent to a burn address or a token contract, whoever asks', (t) => {
  for (const to of [addressOfHex('0'.repeat(40)), USDC.contract])
    t.is(reason(honest(instructionOf({ to })), instructionOf({ to })), 'destination_refused');
});

test('1.6-7 G27 V37 one instruction is signed under one nonce; a later version differs in its fee only', (t) => {
  const first = honest(native);
  t.is(reason(first, native, policyOf({ signed: [first.payload] })), null, 'the same bytes again');
  const dearer = reprice(eth, first, inputsOf()) as Unsigned;
  t.is(reason(dearer, native, policyOf({ signed: [first.payload] })), null);
  const otherNonce = lie(first, { nonce: 8 }, { replayKey: { kind: 'nonce', value: 8 } });
  t.is(
    reason(otherNonce, native, policyOf({ signed: [first.payload] })),
    'instruction_signed_before',
    'both could land',
  );
  const bigger = instructionOf({ amount: 2_000n });
  t.is(reason(honest(bigger), bigger, policyOf({ signed: [first.payload] })), 'replacement_differs');
  t.is(reason(first, native, policyOf({ underKey: [honest(instructionOf({ amount: 5n })).payload] })), 'nonce_used');
});

test('decisions 6 V36 a send-all may be repriced downwards, never up', (t) => {
  const all = instructionOf({ amount: 'all' }),
    first = honest(all);
  const lower = reprice(eth, first, inputsOf()) as Unsigned;
  t.is(reason(lower, all, policyOf({ signed: [first.payload] })), null);
  t.is(reason(first, all, policyOf({ signed: [lower.payload] })), 'replacement_differs');
});

test("V38 a cancel pays nothing to oneself and may take another instruction's nonce", (t) => {
  const first = honest(native);
  const stop = instructionOf({ id: 'txn_2', purpose: 'cancel', to: SENDER, amount: 0n });
  const unsigned = cancel(eth, first, inputsOf()) as Unsigned;
  t.is(reason(unsigned, stop, policyOf({ underKey: [first.payload] })), null);
  t.is(reason(lie(unsigned, { value: 1n }, { amount: 1n }), stop), 'amount_mismatch');
  t.is(reason(lie(unsigned, { to: ATTACKER }, { to: ATTACKER }), stop), 'destination_mismatch');
  t.is(reason(unsigned, { ...stop, to: RECIPIENT }), 'cancel_destination');
  t.is(
    reason(unsigned, instructionOf({ to: SENDER, amount: 0n })),
    'amount_mismatch',
    'a withdrawal of nothing is none',
  );
});

test("instructions of other families' kinds are not signed", (t) => {
  t.is(reason(honest(native), instructionOf({ tag: '5' })), 'not_an_evm_instruction');
  t.is(reason(honest(native), instructionOf({ purpose: 'opt_in' })), 'not_an_evm_instruction');
  t.is(reason({ ...honest(native), tag: '5' }, native), 'summary_mismatch');
  t.is(reason({ ...honest(native), kind: 'trustline' }, native), 'summary_mismatch');
  t.is(reason({ ...honest(native), sendAll: true }, native), 'summary_mismatch');
});

const other = <T>(arbitrary: fc.Arbitrary<T>, than: T) => arbitrary.filter((value) => value !== than);
const mutation = (transaction: EvmTransaction): fc.Arbitrary<Partial<EvmTransaction>> =>
  fc.oneof(
    other(fc.integer({ min: 1, max: 2 ** 40 }), transaction.chainId).map((chainId) => ({ chainId })),
    other(fc.nat(2 ** 31), transaction.nonce).map((nonce) => ({ nonce })),
    other(fc.bigInt(0n, 30_000_000n), transaction.gasLimit).map((gasLimit) => ({ gasLimit })),
    other(fc.bigInt(transaction.maxPriorityFeePerGas, 10n ** 20n), transaction.maxFeePerGas).map((maxFeePerGas) => ({
      maxFeePerGas,
    })),
    other(fc.bigInt(0n, transaction.maxFeePerGas), transaction.maxPriorityFeePerGas).map((maxPriorityFeePerGas) => ({
      maxPriorityFeePerGas,
    })),
    other(
      fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => addressOfHex(Buffer.from(bytes).toString('hex'))),
      transaction.to,
    ).map((to) => ({ to })),
    other(fc.bigInt(0n, 2n ** 128n), transaction.value).map((value) => ({ value })),
    other(
      fc.uint8Array({ maxLength: 80 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      transaction.data,
    ).map((data) => ({ data })),
  );
const scenario = fc.constantFrom(native, token, instructionOf({ amount: 'all' })).chain((instruction) => {
  const unsigned = honest(instruction);
  return mutation(transactionOf(unsigned)).map((change) => ({ instruction, unsigned, change }));
});

test('1.6-1 V31 property: any mutation of any field of the decoded transaction gets no signature', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(scenario, ({ instruction, unsigned, change }) => {
        const payload = encodeUnsigned({ ...transactionOf(unsigned), ...change });
        t.not(
          evmSigner.check(eth, { ...unsigned, payload }, instruction, policyOf()),
          null,
          JSON.stringify(Object.keys(change)),
        );
      }),
      { numRuns: 500 },
    ),
  );
});

test('1.6 property: a lie that the summary goes along with passes only in the fee below the cap, or a free nonce', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(scenario, ({ instruction, unsigned, change }) => {
        const told = { ...transactionOf(unsigned), ...change };
        const summary: Partial<Unsigned> = {
          replayKey: { kind: 'nonce', value: told.nonce },
          ...(instruction.token === null ? { to: told.to, amount: told.value } : {}),
        };
        const passes =
          evmSigner.check(
            eth,
            lie(unsigned, change, summary),
            instruction,
            policyOf({ replayWindow: { from: 7n, to: 7n } }),
          ) === null;
        const isFee = 'gasLimit' in change || 'maxFeePerGas' in change || 'maxPriorityFeePerGas' in change;
        const lowerAll = instruction.amount === 'all' && 'value' in change && told.value > 0n;
        t.true(
          !passes || lowerAll || (isFee && told.gasLimit * told.maxFeePerGas <= eth.feeCap),
          JSON.stringify(Object.keys(change)),
        );
      }),
      { numRuns: 500 },
    ),
  );
});

test('1.6-1 property: no flipped byte of the payload gets a signature', (t) => {
  const unsigned = honest(token),
    bytes = Buffer.from(unsigned.payload.slice(2), 'hex');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= flip;
        t.not(evmSigner.check(eth, { ...unsigned, payload: `0x${changed.toString('hex')}` }, token, policyOf()), null);
      }),
      { numRuns: 500 },
    ),
  );
});

test('G28 matchSigned refuses other bytes, another signer and another txid', (t) => {
  const unsigned = honest(native),
    signed = evmSigner.sign(eth, unsigned, keyAt(SENDER_PATH));
  const wrong = (change: object, than: Unsigned = unsigned) =>
    matchSigned(eth, than, { ...signed, ...change })?.details['reason'];
  t.is(wrong({}, honest(instructionOf({ amount: 1_001n }))), 'payload_mismatch');
  t.is(wrong({}, { ...unsigned, from: ATTACKER }), 'signer_mismatch');
  t.is(wrong({ txid: `0x${'1'.repeat(64)}` }), 'txid_mismatch');
  t.is(wrong({ chain: 'bsc' }), 'chain_mismatch');
  t.is(wrong({ payload: unsigned.payload }), 'not_canonical');
  t.is(wrong({ payload: '0x02' }), 'unreadable');
});
