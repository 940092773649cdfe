/** Decisions 6, chains.md 1.6, B12, B13: a cloud that lies about anything gets no signature. */
import test from 'ava';
import fc from 'fast-check';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Psbt as OtherPsbt, Transaction } from 'bitcoinjs-lib';
import { outpointOf, type BtcInputs } from '../../../../chains/btc/coin.ts';
import { SCRIPT_TYPES } from '../../../../chains/btc/derive.ts';
import { feePartsOf } from '../../../../chains/btc/fee.ts';
import { bitcoin, litecoinRegtest } from '../../../../chains/btc/network.ts';
import { encodePsbt, type Psbt, type PsbtInput } from '../../../../chains/btc/psbt.ts';
import { matchSigned } from '../../../../chains/btc/signed.ts';
import { vsizeOf } from '../../../../chains/btc/size.ts';
import { singleKeyOf } from '../../../../chains/btc/spending.ts';
import { buildUnsigned, reprice } from '../../../../chains/btc/unsigned.ts';
import type { Unsigned } from '../../../../chains/chain.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction, SigningPolicy } from '../../../../edge/signing/signers/signer.ts';
import {
  accepted,
  coinOf,
  inputsOf,
  intentOf,
  own,
  ownAddressAt,
  payingTransaction,
  psbtIn,
  RECIPIENT,
  scriptFor,
  SENDER,
} from '../../../support/btc-inputs.ts';

const ATTACKER = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const TREASURY = own(1, 'p2wpkh', bitcoin, 1);

interface Signed {
  signed?: string[];
  underKey?: string[];
}
const policyOf = ({ signed = [], underKey = [], ...more }: Partial<SigningPolicy> & Signed = {}): SigningPolicy => ({
  ...feeBoundsOf(bitcoin.slug),
  sweepDestinations: [TREASURY.address],
  gasTank: own(0, 'p2wpkh', bitcoin, 1).address,
  catalogue: new Map(),
  addressAt: (path) => ownAddressAt(path),
  replayWindow: null,
  journal: { forInstruction: signed, withReplayKey: () => [...signed, ...underKey] },
  ...more,
});
const instructionOf = (more: Partial<Instruction> = {}): Instruction => ({
  id: 'txn_1',
  purpose: 'withdrawal',
  chain: 'btc',
  from: SENDER.address,
  fromPath: SENDER.path,
  to: RECIPIENT,
  toPath: null,
  amount: 100_000n,
  token: null,
  tag: null,
  ...more,
});

/** What an honest cloud builds for an instruction. */
function honest(instruction: Instruction = instructionOf(), inputs: Partial<BtcInputs> = {}): Unsigned {
  const { from, fromPath, to, amount, token, tag } = instruction;
  return accepted(buildUnsigned(bitcoin, inputsOf(inputs), intentOf({ from, fromPath, to, amount, token, tag }), null));
}

/** A cloud that lies in the bytes, with a summary that goes along with the lie. */
function lie(unsigned: Unsigned, change: (psbt: Psbt) => Psbt, summary: Partial<Unsigned> = {}): Unsigned {
  const psbt = change(psbtIn(unsigned));
  const into = psbt.inputs.reduce((sum, input) => sum + amountIn(input), 0n),
    feeSats = psbt.outputs.reduce((rest, { value }) => rest - value, into);
  const kind = singleKeyOf(scriptFor(unsigned.from))!.kind,
    scripts = psbt.outputs.map(({ script }) => script);
  const counts = {
    vsize: vsizeOf(kind, psbt.inputs.length, scripts),
    inputCount: psbt.inputs.length,
    outputCount: scripts.length,
  };
  return {
    ...unsigned,
    payload: encodePsbt(psbt),
    amount: psbt.outputs[0]?.value ?? 0n,
    feeMax: feeSats,
    fee: feePartsOf({ feeSats, ...counts }),
    replayKey: { kind: 'outpoints', value: psbt.inputs.map(outpointOf) },
    ...summary,
  };
}

function amountIn({ previous, vout, witnessUtxo }: PsbtInput): bigint {
  if (witnessUtxo !== null) return witnessUtxo.value;
  return previous === null ? 0n : (Transaction.fromBuffer(previous).outs[vout]?.value ?? 0n);
}

const reason = (unsigned: Unsigned, instruction = instructionOf(), policy = policyOf(), network = bitcoin) =>
  btcSigner.check(network, unsigned, instruction, policy)?.details['reason'] ?? null;

for (const type of SCRIPT_TYPES) {
  test(`1.6 B13 an honest payload passes and is signed by the sender, input by input: ${type}`, (t) => {
    const from = own(4, type),
      instruction = instructionOf({ from: from.address, fromPath: from.path });
    const unsigned = honest(instruction, {
      coins: [60_000n, 70_000n].map((value) => coinOf(value, { script: from.script })),
    });
    t.is(btcSigner.check(bitcoin, unsigned, instruction, policyOf()), null);
    const signed = btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey });
    t.is(matchSigned(bitcoin, unsigned, signed), null);
    t.is(Transaction.fromHex(signed.payload).getId(), signed.txid);
    t.deepEqual(btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey }).txid, signed.txid);
  });
}

test('1.6 a send-all and a sweep to the treasury pass as well', (t) => {
  const all = instructionOf({ amount: 'all' }),
    sweep = instructionOf({ purpose: 'sweep', amount: 'all', to: TREASURY.address });
  t.is(reason(honest(all), all), null);
  t.is(reason(honest(sweep), sweep), null);
  t.is(reason(honest(), instructionOf({ to: RECIPIENT.toUpperCase() })), null, 'the caller may write it in capitals');
});

test('B11 what is signed is what another library would sign', (t) => {
  const unsigned = honest(),
    signed = btcSigner.sign(bitcoin, unsigned, { privateKey: SENDER.privateKey });
  const other = OtherPsbt.fromBase64(unsigned.payload),
    [signature, publicKey] = Transaction.fromHex(signed.payload).ins[0]!.witness;
  other.updateInput(0, { partialSig: [{ pubkey: publicKey!, signature: signature! }] });
  other.finalizeAllInputs();
  t.is(other.extractTransaction().toHex(), signed.payload);
});

// ── One lie per field ────────────────────────────────────────────────────────────────────────────────────────────

const withInput =
  (change: (input: PsbtInput) => Partial<PsbtInput>) =>
  (psbt: Psbt): Psbt => ({ ...psbt, inputs: psbt.inputs.map((input) => ({ ...input, ...change(input) })) });
const withOutput =
  (at: number, change: Partial<Psbt['outputs'][number]>) =>
  (psbt: Psbt): Psbt => ({
    ...psbt,
    outputs: psbt.outputs.map((output, i) => (i === at ? { ...output, ...change } : output)),
  });
const attacker = scriptFor(ATTACKER);

/** An input of somebody else, or of the sender, that the cloud adds. */
const added = (script: Uint8Array, value: bigint): PsbtInput => {
  const previous = payingTransaction(script, value, 'added');
  return {
    txid: previous.getId(),
    vout: 1,
    sequence: 0xffff_fffd,
    previous: previous.toBuffer(),
    witnessUtxo: { script, value },
    sighash: null,
  };
};

const LIES: readonly [name: string, expected: string, change: (psbt: Psbt) => Psbt][] = [
  ['another destination', 'destination_mismatch', withOutput(0, { script: attacker })],
  ['another amount', 'amount_mismatch', withOutput(0, { value: 100_001n })],
  ['nothing for the recipient', 'amount_mismatch', withOutput(0, { value: 0n })],
  ['change to somebody else', 'change_not_of_sender', withOutput(1, { script: attacker })],
  ['change to another own address', 'change_not_of_sender', withOutput(1, { script: own(7).script })],
  ['the payment in second place', 'destination_mismatch', (psbt) => ({ ...psbt, outputs: psbt.outputs.toReversed() })],
  [
    'a third output',
    'output_count',
    (psbt) => ({ ...psbt, outputs: [...psbt.outputs, { script: attacker, value: 294n }] }),
  ],
  ['no output', 'output_count', (psbt) => ({ ...psbt, outputs: [] })],
  ['all of the change as fee', 'fee_cap', (psbt) => ({ ...psbt, outputs: psbt.outputs.slice(0, 1) })],
  ['more out than in', 'outputs_above_inputs', withOutput(1, { value: 5_000_000n })],
  [
    'a coin of somebody else',
    'input_not_of_sender',
    (psbt) => ({ ...psbt, inputs: [...psbt.inputs, added(attacker, 1_000n)] }),
  ],
  [
    'a coin of another own address',
    'input_not_of_sender',
    (psbt) => ({ ...psbt, inputs: [...psbt.inputs, added(own(9).script, 1_000n)] }),
  ],
  ['a coin twice', 'coin_twice', (psbt) => ({ ...psbt, inputs: [...psbt.inputs, ...psbt.inputs] })],
  [
    'a larger amount in the witness output',
    'previous_transaction_mismatch',
    withInput(({ witnessUtxo }) => ({ witnessUtxo: { ...witnessUtxo!, value: witnessUtxo!.value + 1n } })),
  ],
  [
    'a smaller amount: fee inflation',
    'previous_transaction_mismatch',
    withInput(({ witnessUtxo }) => ({ witnessUtxo: { ...witnessUtxo!, value: 150_000n } })),
  ],
  [
    'another previous transaction',
    'previous_transaction_mismatch',
    withInput(() => ({ previous: payingTransaction(SENDER.script, 1_000_000n, 'other').toBuffer() })),
  ],
  ['an output that the previous transaction has not', 'previous_transaction_mismatch', withInput(() => ({ vout: 2 }))],
  ['no previous transaction', 'previous_transaction_missing', withInput(() => ({ previous: null }))],
  [
    'a previous transaction that is none',
    'previous_transaction_mismatch',
    withInput(() => ({ previous: Uint8Array.of(1, 2, 3) })),
  ],
  ['sighash NONE', 'sighash_type', withInput(() => ({ sighash: 2 }))],
  ['sighash SINGLE', 'sighash_type', withInput(() => ({ sighash: 3 }))],
  ['sighash ANYONECANPAY', 'sighash_type', withInput(() => ({ sighash: 0x81 }))],
  ['sighash DEFAULT on a script that has none', 'sighash_type', withInput(() => ({ sighash: 0 }))],
  ['a final sequence', 'sequence', withInput(() => ({ sequence: 0xffff_ffff }))],
  ['a relative lock', 'sequence', withInput(() => ({ sequence: 144 }))],
  ['another transaction version', 'transaction_version', (psbt) => ({ ...psbt, txVersion: 3 })],
  ['a lock until an instant', 'locktime', (psbt) => ({ ...psbt, locktime: 1_800_000_000 })],
];

for (const [name, expected, change] of LIES) {
  test(`1.6 B12 B13 B15 a lie in the bytes gets no signature: ${name} → ${expected}`, (t) => {
    t.is(reason(lie(honest(), change)) as string | null, expected);
  });
}

test("1.6-1 bytes that do not decode, that are signed, or that are another chain's", (t) => {
  t.is(reason({ ...honest(), payload: 'AAAA' }), 'not_canonical');
  t.is(
    reason({ ...honest(), payload: btcSigner.sign(bitcoin, honest(), { privateKey: SENDER.privateKey }).payload }),
    'not_canonical',
  );
  t.is(reason({ ...honest(), chain: 'eth' }), 'chain_mismatch');
  t.is(reason(honest(), instructionOf({ chain: 'eth' })), 'chain_mismatch');
  const finalised = OtherPsbt.fromBase64(honest().payload);
  finalised.data.inputs[0]!.finalScriptWitness = Buffer.from('00', 'hex');
  t.is(reason({ ...honest(), payload: finalised.toBase64() }), 'signed');
});

const SUMMARIES: readonly [string, Partial<Unsigned>][] = [
  ['summary_mismatch', { to: ATTACKER }],
  ['summary_mismatch', { amount: 99_999n }],
  ['summary_mismatch', { sendAll: true }],
  ['summary_mismatch', { tokenContract: 'x' }],
  ['summary_mismatch', { tag: '1' }],
  ['summary_mismatch', { kind: 'trustline' }],
  ['fee_mismatch', { feeMax: 1n }],
  ['fee_mismatch', { fee: {} }],
  ['fee_mismatch', { fee: { feeRateSatPerKvb: '1', vsize: 141, inputCount: 1, outputCount: 2 } }],
  ['outpoints_mismatch', { replayKey: { kind: 'outpoints', value: [] } }],
  ['outpoints_mismatch', { replayKey: { kind: 'nonce', value: 1 } }],
  ['from_mismatch', { from: ATTACKER }],
  ['from_path_mismatch', { fromPath: "m/84'/0'/0'/0/1" }],
];

for (const [i, [expected, summary]] of SUMMARIES.entries()) {
  test(`1.6-1 a summary that is not that of the bytes (${i}): ${JSON.stringify(Object.keys(summary))} → ${expected}`, (t) => {
    t.is(reason({ ...honest(), ...summary }) as string | null, expected);
  });
}

test('1.6-2 1.6-3 whose address, whose destination: sender at its path, sweeps to the treasury, funding from the tank', (t) => {
  const elsewhere = instructionOf({ fromPath: own(1).path });
  t.is(reason({ ...honest(), fromPath: own(1).path }, elsewhere), 'from_mismatch');
  const sweep = instructionOf({ purpose: 'sweep' });
  t.is(reason(honest(sweep), sweep), 'sweep_destination_not_allowed');
  const funding = instructionOf({ purpose: 'gas_funding', toPath: own(1).path, to: own(1).address });
  t.is(reason(honest(funding), funding), 'not_the_gas_tank');
  for (const more of [{ purpose: 'opt_in' }, { tag: '7' }, { purpose: 'cancel', to: SENDER.address }] as const) {
    t.is(reason(honest(), instructionOf(more)), 'not_a_bitcoin_instruction');
  }
  t.is(reason(honest(), instructionOf({ to: ATTACKER })), 'destination_mismatch');
  t.is(
    reason(honest(), instructionOf(), policyOf(), litecoinRegtest),
    'destination_mismatch',
    '1.6-6: an address of another network',
  );
});

test('1.6-4 V36 a send-all leaves no change, and an amount is never all', (t) => {
  const all = instructionOf({ amount: 'all' });
  t.is(reason({ ...honest(), sendAll: true }, all), 'change_of_a_send_all');
  t.is(reason(honest(all)), 'amount_mismatch');
});

test("1.6-5 G29 the fee is held against the edge's own caps, and its rate against the network's", (t) => {
  const unsigned = honest();
  t.is(reason(unsigned, instructionOf(), policyOf({ feeCap: unsigned.feeMax - 1n })), 'fee_cap');
  t.is(reason(unsigned, instructionOf(), policyOf({ feeCap: unsigned.feeMax })), null);
  t.is(reason(unsigned, instructionOf(), policyOf({ feeRatioBpsMax: 140, feeFloor: 0n })), 'fee_ratio');
  t.is(reason(unsigned, instructionOf(), policyOf({ feeRatioBpsMax: 141, feeFloor: 0n })), null);
  const dense = lie(unsigned, withOutput(1, { value: 758_000n }));
  t.is(reason(dense, instructionOf(), policyOf({ feeCap: 1_000_000n })), 'fee_price_cap');
  t.is(
    reason(dense, instructionOf(), policyOf({ feeCap: 1_000_000n, feePriceCap: 10n ** 9n, feeRatioBpsMax: 1_000_000 })),
    'fee_rate_cap',
  );
});

// ── The journal ──────────────────────────────────────────────────────────────────────────────────────────────────

test('B17 G27 what replaces a signed payload shares a coin with it and pays the same; whatever else it is, it is not signed', (t) => {
  const coins = [coinOf(1_000_000n)],
    first = honest(instructionOf(), { coins });
  const second = accepted(reprice(bitcoin, first, inputsOf({ coins, estimateSatPerKvb: '30000' })));
  const signed = { signed: [first.payload] };
  t.is(reason(second, instructionOf(), policyOf(signed)), null);
  t.is(reason(first, instructionOf(), policyOf(signed)), null, 'the same bytes again');
  t.is(
    reason(honest(), instructionOf(), policyOf(signed)),
    'replacement_keeps_no_coin',
    'both could confirm: the customer would be paid twice',
  );
  const other = honest(instructionOf({ amount: 99_000n }), { coins });
  t.is(reason(other, instructionOf({ amount: 99_000n }), policyOf(signed)), 'replacement_differs');
  t.is(
    reason(honest(instructionOf({ to: ATTACKER }), { coins }), instructionOf({ to: ATTACKER }), policyOf(signed)),
    'replacement_differs',
  );
  t.is(reason(first, instructionOf(), policyOf({ signed: ['AAAA'] })), 'instruction_signed_before');
});

test('decisions 6: a repriced send-all may pay less, never more', (t) => {
  const coins = [coinOf(1_000_000n)],
    all = instructionOf({ amount: 'all' }),
    first = honest(all, { coins });
  const dearer = accepted(reprice(bitcoin, first, inputsOf({ coins, estimateSatPerKvb: '30000' })));
  t.true(dearer.amount < first.amount);
  t.is(reason(dearer, all, policyOf({ signed: [first.payload] })), null);
  t.is(reason(first, all, policyOf({ signed: [dearer.payload] })), 'replacement_differs');
});

test('1.6-7 a coin that was signed away for one instruction is not signed away for another', (t) => {
  const coins = [coinOf(1_000_000n)],
    first = honest(instructionOf(), { coins });
  const second = honest(instructionOf({ amount: 5_000n }), { coins });
  t.is(
    reason(second, instructionOf({ id: 'txn_2', amount: 5_000n }), policyOf({ underKey: [first.payload] })),
    'coin_used',
  );
  t.is(reason(second, instructionOf({ id: 'txn_2', amount: 5_000n }), policyOf()), null);
});

// ── Keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────

test('sign: only the key that the coins pay, alone, and only what proves its amounts', (t) => {
  const unsigned = honest();
  t.throws(() => btcSigner.sign(bitcoin, unsigned, { privateKey: own(1).privateKey }), {
    message: /not that of the sender/,
  });
  t.throws(
    () => btcSigner.sign(bitcoin, unsigned, { privateKey: SENDER.privateKey }, { privateKey: own(1).privateKey }),
    { message: /one signer/ },
  );
  t.throws(() => btcSigner.sign(bitcoin, { ...unsigned, payload: 'AAAA' }, { privateKey: SENDER.privateKey }), {
    message: /does not decode/,
  });
  const wrong = lie(
    unsigned,
    withInput(() => ({ previous: payingTransaction(SENDER.script, 1n, 'other').toBuffer() })),
  );
  t.throws(() => btcSigner.sign(bitcoin, wrong, { privateKey: SENDER.privateKey }), { message: /does not prove/ });
});

test('G28 bytes that were signed differently are not the payload: another key, another output, another id', (t) => {
  const unsigned = honest(),
    signed = btcSigner.sign(bitcoin, unsigned, { privateKey: SENDER.privateKey });
  const no = (more: Partial<typeof signed>, built = unsigned) =>
    matchSigned(bitcoin, built, { ...signed, ...more })?.details['reason'] ?? null;
  t.is(no({}), null);
  t.is(no({ txid: '0'.repeat(64) }), 'txid_mismatch');
  t.is(no({ payload: 'zz' }), 'unreadable');
  t.is(no({ chain: 'eth' }), 'chain_mismatch');
  t.is(no({}, honest(instructionOf({ amount: 5_000n }))), 'payload_mismatch');
  const changed = (change: (transaction: Transaction) => void) => {
    const transaction = Transaction.fromHex(signed.payload);
    change(transaction);
    return { payload: transaction.toHex(), txid: transaction.getId() };
  };
  t.is(
    no(
      changed((transaction) => {
        transaction.outs[0]!.value -= 1n;
      }),
    ),
    'payload_mismatch',
  );
  t.is(no(changed((transaction) => transaction.stripWitnesses())), 'signer_mismatch');
  t.is(
    no(changed((transaction) => transaction.setWitness(0, [...transaction.ins[0]!.witness, Uint8Array.of(1)]))),
    'signer_mismatch',
  );
  t.is(
    no(
      changed((transaction) => {
        transaction.ins[0]!.witness[0]![10]! ^= 1;
      }),
    ),
    'signer_mismatch',
  );
  t.is(no(changed((transaction) => transaction.setInputScript(0, Uint8Array.of(0x51)))), 'signer_mismatch');
  const malleated = changed((transaction) => {
    const [signature, publicKey] = transaction.ins[0]!.witness,
      { Signature } = secp256k1,
      { n } = secp256k1.Point.CURVE();
    const { r, s } = Signature.fromBytes(signature!.subarray(0, -1), 'der');
    transaction.setWitness(0, [Uint8Array.of(...new Signature(r, n - s).toBytes('der'), 1), publicKey!]);
  });
  t.is(malleated.txid, signed.txid, 'the id does not cover it');
  t.is(no(malleated), 'signer_mismatch', 'a high S is not what was signed');
});

// ── Anything else ────────────────────────────────────────────────────────────────────────────────────────────────

const fields = fc.oneof(
  fc.record({
    kind: fc.constant('output' as const),
    at: fc.nat(1),
    value: fc.option(fc.bigInt({ min: 0n, max: 2_000_000n })),
    script: fc.option(fc.constantFrom(attacker, own(7).script, scriptFor(RECIPIENT), SENDER.script)),
  }),
  fc.record({
    kind: fc.constant('input' as const),
    sequence: fc.option(fc.nat(0xffff_ffff)),
    vout: fc.option(fc.nat(3)),
    sighash: fc.option(fc.nat(255)),
    proof: fc.option(fc.bigInt({ min: 1n, max: 3_000_000n })),
    bare: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('frame' as const), txVersion: fc.nat(4), locktime: fc.nat(0xffff_ffff) }),
  fc.record({
    kind: fc.constant('more' as const),
    value: fc.bigInt({ min: 0n, max: 5_000n }),
    out: fc.boolean(),
    mine: fc.boolean(),
  }),
);
type Field = typeof fields extends fc.Arbitrary<infer F> ? F : never;

function mutated(psbt: Psbt, field: Field): Psbt {
  switch (field.kind) {
    case 'output':
      return withOutput(field.at, {
        ...(field.value === null ? {} : { value: field.value }),
        ...(field.script === null ? {} : { script: field.script }),
      })(psbt);
    case 'frame':
      return { ...psbt, txVersion: field.txVersion, locktime: field.locktime };
    case 'more': {
      const script = field.mine ? SENDER.script : attacker;
      return field.out
        ? { ...psbt, outputs: [...psbt.outputs, { script, value: field.value }] }
        : { ...psbt, inputs: [...psbt.inputs, added(script, field.value)] };
    }
    case 'input': {
      const { sequence, vout, sighash, proof, bare } = field;
      return withInput(() => ({
        ...(sequence === null ? {} : { sequence }),
        ...(vout === null ? {} : { vout }),
        ...(sighash === null ? {} : { sighash }),
        ...(bare ? { previous: null } : {}),
        ...(proof === null
          ? {}
          : {
              previous: payingTransaction(SENDER.script, proof, 'proof').toBuffer(),
              witnessUtxo: { script: SENDER.script, value: proof },
            }),
      }))(psbt);
    }
  }
}

/**
 * What decides where the money goes and what it costs; a lock time in blocks and a shift between change and fee are the
 * cloud's to choose, within the caps.
 */
const essence = ({ inputs, outputs, txVersion }: Psbt) =>
  JSON.stringify([
    txVersion,
    inputs.map(({ txid, vout, sequence, sighash, previous }) => [
      txid,
      vout,
      sequence,
      sighash ?? 1,
      previous === null,
    ]),
    outputs.map(({ script }) => Buffer.from(script).toString('hex')),
    outputs[0]?.value.toString(),
  ]);

test('property: whatever is changed in the decoded transaction, it is signed only if it still does what was asked, within the caps', (t) => {
  const unsigned = honest(),
    before = psbtIn(unsigned),
    into = 1_000_000n;
  let signed = 0;
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 3 }), (changes) => {
        const after = changes.reduce(mutated, before),
          payload = lie(unsigned, () => after);
        if (reason(payload) !== null) return;
        signed += 1;
        const { outputs, inputs } = psbtIn(payload);
        t.is(outputs[0]!.value, 100_000n);
        t.deepEqual(Buffer.from(outputs[0]!.script), Buffer.from(scriptFor(RECIPIENT)));
        t.true(outputs.slice(1).every(({ script }) => Buffer.compare(script, SENDER.script) === 0));
        const more = inputs.slice(1).reduce((sum, input) => sum + amountIn(input), 0n);
        t.true(into + more - outputs.reduce((sum, { value }) => sum + value, 0n) <= bitcoin.feeCap);
        if (inputs.length === before.inputs.length && outputs.length === before.outputs.length)
          t.is(essence(after), essence(before));
      }),
      { numRuns: 600 },
    ),
  );
  t.true(signed < 600);
});

test('a summary that is not updated with the bytes never passes: property over one changed byte of the payload', (t) => {
  const unsigned = honest(),
    bytes = Buffer.from(unsigned.payload, 'base64');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= mask;
        const payload = changed.toString('base64');
        // A lock time in blocks is not part of the summary; everything else is.
        const decodes = reason({ ...unsigned, payload }) === null;
        if (decodes) t.is(essence(psbtIn({ payload })), essence(psbtIn(unsigned)));
      }),
      { numRuns: 400 },
    ),
  );
});
