/** What a cloud can say of a Bitcoin payment. */
import { outpointOf } from '../../../../chains/btc/coin.ts';
import { feePartsOf } from '../../../../chains/btc/fee.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { encodePsbt, type Psbt, type PsbtInput } from '../../../../chains/btc/psbt.ts';
import { vsizeOf } from '../../../../chains/btc/size.ts';
import { buildUnsigned, reprice } from '../../../../chains/btc/unsigned.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import { feeBoundsOf } from '../../../../edge/signing/signers/fee-bounds.ts';
import type { Instruction } from '../../../../edge/signing/signers/signer.ts';
import * as btcs from '../../btc-inputs.ts';
import { NO_JOURNAL, remembering, type Ask, type Stage } from './stage.ts';

const { SENDER, own, psbtIn, accepted } = btcs;
const TREASURY = own(1, 'p2wpkh', bitcoin, 1),
  TANK = own(0, 'p2wpkh', bitcoin, 1);
const THIEF = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const addressAt = remembering((path) => btcs.ownAddressAt(path));
const COINS = [btcs.coinOf(1_000_000n), btcs.coinOf(900_000n)];
const INPUTS = btcs.inputsOf({ coins: COINS });

function askOf(more: Partial<Instruction> = {}): Ask {
  const { address: from, path: fromPath } = more.purpose === 'gas_funding' ? TANK : SENDER;
  const instruction: Instruction = {
    id: 'txn_1',
    purpose: 'withdrawal',
    chain: 'btc',
    from,
    fromPath,
    to: btcs.RECIPIENT,
    toPath: null,
    amount: 100_000n,
    token: null,
    tag: null,
    ...more,
  };
  const { to, amount } = instruction,
    inputs = from === SENDER.address ? INPUTS : btcs.inputsOf({ coins: [btcs.coinOf(700_000n, TANK)] });
  return {
    instruction,
    unsigned: accepted(buildUnsigned(bitcoin, inputs, btcs.intentOf({ from, fromPath, to, amount }), null)),
    policy: {
      ...feeBoundsOf('btc'),
      sweepDestinations: [TREASURY.address],
      gasTank: TANK.address,
      catalogue: new Map(),
      addressAt,
      replayWindow: null,
      journal: NO_JOURNAL,
      nowMs: Date.parse('2026-08-01T00:00:00Z'),
    },
  };
}

/** A change of the bytes, with a summary that goes along. */
const lie =
  (change: (psbt: Psbt) => Psbt | null) =>
  ({ unsigned }: Ask): Ask['unsigned'] | null => {
    const psbt = change(psbtIn(unsigned));
    if (psbt === null) return null;
    const into = psbt.inputs.reduce((sum, { witnessUtxo }) => sum + (witnessUtxo?.value ?? 0n), 0n),
      feeSats = psbt.outputs.reduce((rest, { value }) => rest - value, into);
    const scripts = psbt.outputs.map(({ script }) => script);
    const vsize = vsizeOf('p2wpkh', psbt.inputs.length, scripts);
    return {
      ...unsigned,
      payload: encodePsbt(psbt),
      amount: psbt.outputs[0]?.value ?? 0n,
      feeMax: feeSats,
      fee: feePartsOf({ feeSats, vsize, inputCount: psbt.inputs.length, outputCount: scripts.length }),
      replayKey: { kind: 'outpoints', value: psbt.inputs.map(outpointOf) },
    };
  };
const inputs = (change: Partial<PsbtInput>) =>
  lie((psbt) => ({ ...psbt, inputs: psbt.inputs.map((input) => ({ ...input, ...change })) }));
const output = (at: number, change: (value: bigint) => Partial<Psbt['outputs'][number]>) =>
  lie((psbt) =>
    psbt.outputs[at] === undefined
      ? null
      : { ...psbt, outputs: psbt.outputs.map((one, i) => (i === at ? { ...one, ...change(one.value) } : one)) },
  );
const thief = btcs.scriptFor(THIEF);
const previous = (script: Uint8Array): PsbtInput => {
  const transaction = btcs.payingTransaction(script, 5_000n, 'added');
  return {
    txid: transaction.getId(),
    vout: 1,
    sequence: 0xffff_fffd,
    previous: transaction.toBuffer(),
    witnessUtxo: { script, value: 5_000n },
    sighash: null,
  };
};

/** Another version for the same instruction: a higher fee, or from a coin that the first has not. */
const version = ({ unsigned }: Ask): string | null => {
  const built = reprice(bitcoin, unsigned, btcs.inputsOf({ coins: COINS, estimateSatPerKvb: '20000' }));
  return 'ok' in built ? null : built.payload;
};
const more = (change: (psbt: Psbt) => Psbt) => (ask: Ask) => lie(change)(ask)?.payload ?? null;

export const stage: Stage = {
  network: bitcoin,
  signer: btcSigner,
  thief: THIEF,
  otherPath: own(3).path,
  token: { chain: 'btc', contract: 'x', symbol: 'X', decimals: 8 },
  asks: {
    native: askOf(),
    'send-all': askOf({ amount: 'all' }),
    sweep: askOf({ purpose: 'sweep', to: TREASURY.address, amount: 'all' }),
    'gas funding': askOf({ purpose: 'gas_funding', to: SENDER.address, toPath: SENDER.path, amount: 50_000n }),
  },
  lies: {
    destination: output(0, () => ({ script: thief })),
    'a higher amount': output(0, (value) => ({ value: value + 1n })),
    'a lower amount': output(0, (value) => ({ value: value - 1n })),
    'no amount': output(0, () => ({ value: 0n })),
    'change to somebody else': output(1, () => ({ script: thief })),
    'no change, all of it fee': lie((psbt) => ({ ...psbt, outputs: psbt.outputs.slice(0, 1) })),
    'a fee above the rate of the network': output(1, (value) => ({ value: value - 150_000n })),
    'more out than in': output(1, () => ({ value: 5_000_000n })),
    'change beside a send-all': lie((psbt) => ({
      ...psbt,
      outputs: [
        { ...psbt.outputs[0]!, value: psbt.outputs[0]!.value - 1_000n },
        { script: SENDER.script, value: 1_000n },
      ],
    })),
    'three outputs': lie((psbt) => ({
      ...psbt,
      outputs: [...psbt.outputs, ...psbt.outputs, ...psbt.outputs].slice(0, 3),
    })),
    'no output': lie((psbt) => ({ ...psbt, outputs: [] })),
    'a coin of somebody else': lie((psbt) => ({ ...psbt, inputs: [...psbt.inputs, previous(thief)] })),
    'a coin twice': lie((psbt) => ({ ...psbt, inputs: [...psbt.inputs, ...psbt.inputs] })),
    'no coin': lie((psbt) => ({ ...psbt, inputs: [] })),
    'no previous transaction': inputs({ previous: null }),
    'another previous transaction': inputs({ previous: previous(thief).previous }),
    'a previous transaction that is none': inputs({ previous: Uint8Array.of(1, 2, 3) }),
    'another way of signing': inputs({ sighash: 2 }),
    'the usual way of signing, spelled out': inputs({ sighash: 1 }),
    'a final sequence': inputs({ sequence: 0xffff_ffff }),
    'another version': lie((psbt) => ({ ...psbt, txVersion: 3 })),
    'a lock until an instant': lie((psbt) => ({ ...psbt, locktime: 1_800_000_000 })),
    'a lock far ahead': lie((psbt) => ({ ...psbt, locktime: 2_000_000 })),
  },
  earlier: {
    'a version with another fee': version,
    'a version of another amount': more((psbt) => ({
      ...psbt,
      outputs: psbt.outputs.map((one, i) => (i === 0 ? { ...one, value: one.value + 7n } : one)),
    })),
    'a version of a lower amount': more((psbt) => ({
      ...psbt,
      outputs: psbt.outputs.map((one, i) => (i === 0 ? { ...one, value: one.value - 7n } : one)),
    })),
    'a version to somebody else': more((psbt) => ({
      ...psbt,
      outputs: psbt.outputs.map((one, i) => (i === 0 ? { ...one, script: thief } : one)),
    })),
    'a version from another coin': more((psbt) => ({ ...psbt, inputs: [previous(SENDER.script)] })),
  },
};
