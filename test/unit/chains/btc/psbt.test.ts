import test from 'ava';
import fc from 'fast-check';
import { Psbt as OtherPsbt, Transaction } from 'bitcoinjs-lib';
import { decodePsbt, encodePsbt, type Psbt } from '../../../../chains/btc/psbt.ts';
import { buildUnsigned } from '../../../../chains/btc/unsigned.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { accepted, coinOf, inputsOf, intentOf, psbtIn } from '../../../support/btc-inputs.ts';

const built = () =>
  accepted(buildUnsigned(bitcoin, inputsOf({ coins: [coinOf(60_000n), coinOf(70_000n)] }), intentOf(), null));
const bytesOf = (payload: string): Buffer => Buffer.from(payload, 'base64');
const reasonOf = (payload: Buffer | string) => {
  const decoded = decodePsbt(typeof payload === 'string' ? payload : payload.toString('base64'));
  return decoded.ok ? null : decoded.reason;
};

test('B11 B12 a payload is a PSBT of version 0 that another library reads: whole previous transactions and witness outputs', (t) => {
  const { payload } = built(),
    own = psbtIn({ payload }),
    other = OtherPsbt.fromBase64(payload);
  t.is(other.toBase64(), payload);
  t.is(other.inputCount, 2);
  t.deepEqual(
    other.txInputs.map(({ index, sequence }) => [index, sequence]),
    own.inputs.map(({ vout, sequence }) => [vout, sequence]),
  );
  t.deepEqual(
    other.txOutputs.map(({ value }) => value),
    own.outputs.map(({ value }) => value),
  );
  for (const [i, { nonWitnessUtxo, witnessUtxo }] of other.data.inputs.entries()) {
    t.is(Transaction.fromBuffer(nonWitnessUtxo!).getId(), own.inputs[i]!.txid);
    t.is(witnessUtxo!.value, own.inputs[i]!.witnessUtxo!.value);
  }
});

test('decisions 6: fields that nobody checks, signatures and other versions are named, never passed over', (t) => {
  const { payload } = built(),
    bytes = bytesOf(payload);
  const withField = (field: string, at: 'global' | 'last') => {
    const hex = bytes.toString('hex');
    return Buffer.from(
      at === 'global' ? hex.replace('70736274ff', `70736274ff${field}`) : `${hex.slice(0, -2)}${field}00`,
      'hex',
    );
  };
  t.is(reasonOf(withField('02fc0001aa', 'global')), 'unexpected_field', 'proprietary');
  t.is(reasonOf(withField('01fb0402000000', 'global')), 'unexpected_field', 'version 2');
  t.is(reasonOf(withField('01fb0400000000', 'global')), 'unexpected_field', 'a version that is spelled out');
  t.is(reasonOf(withField('0100020000', 'last')), 'unexpected_field', 'redeem script of an output');
  const signed = OtherPsbt.fromBase64(payload);
  signed.data.inputs[0]!.finalScriptWitness = Buffer.from('00', 'hex');
  t.is(reasonOf(signed.toBase64()), 'signed');
  t.is(reasonOf(''), 'unreadable');
  t.is(reasonOf('cHNidP8='), 'unreadable');
  t.is(reasonOf(`${payload.slice(0, 4)}\n${payload.slice(4)}`), 'unreadable');
  t.is(reasonOf(Buffer.concat([bytes, Buffer.of(0)])), 'unreadable', 'bytes behind the last map');
});

test('property: a payload cut short or with one byte changed never decodes to the same meaning', (t) => {
  const { payload } = built(),
    bytes = bytesOf(payload),
    whole = JSON.stringify(meaning(psbtIn({ payload })));
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= mask;
        const decoded = decodePsbt(changed.toString('base64'));
        if (decoded.ok) t.not(JSON.stringify(meaning(decoded.psbt)), whole);
        t.false(decodePsbt(bytes.subarray(0, at).toString('base64')).ok);
      }),
      { numRuns: 300 },
    ),
  );
});

function meaning({ inputs, outputs, ...rest }: Psbt): unknown {
  const hex = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('hex'));
  return {
    ...rest,
    outputs: outputs.map(({ value, script }) => [value.toString(), hex(script)]),
    inputs: inputs.map((one) => [
      one.txid,
      one.vout,
      one.sequence,
      one.sighash,
      hex(one.previous),
      one.witnessUtxo?.value.toString(),
      hex(one.witnessUtxo?.script ?? null),
    ]),
  };
}

test('property: encoding and decoding are inverse', (t) => {
  const script = fc.uint8Array({ minLength: 0, maxLength: 40 }),
    value = fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n });
  const output = fc.record({ script, value });
  const input = fc.record({
    txid: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    vout: fc.nat(0xffff_ffff),
    sequence: fc.nat(0xffff_ffff),
    previous: fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 })),
    witnessUtxo: fc.option(output),
    sighash: fc.option(fc.nat(255)),
  });
  const psbt = fc.record({
    txVersion: fc.nat(0xffff_ffff),
    locktime: fc.nat(0xffff_ffff),
    inputs: fc.array(input, { minLength: 1, maxLength: 4 }),
    outputs: fc.array(output, { minLength: 1, maxLength: 4 }),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(psbt, (given) => {
        const payload = encodePsbt(given),
          decoded = decodePsbt(payload);
        if (!decoded.ok) throw new Error(decoded.reason);
        t.is(encodePsbt(decoded.psbt), payload);
        t.is(JSON.stringify(meaning(decoded.psbt)), JSON.stringify(meaning(given)));
      }),
      { numRuns: 200 },
    ),
  );
});
