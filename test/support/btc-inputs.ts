/** Keys, coins and intents of Bitcoin tests, with what a test does not care about filled in. */
import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { Transaction } from 'bitcoinjs-lib';
import type { Intent, Unsigned } from '../../chains/chain.ts';
import { parseAddress } from '../../chains/btc/address.ts';
import type { BtcInputs, Coin } from '../../chains/btc/coin.ts';
import { ACCOUNT_PATHS, deriveAddress, type ScriptType } from '../../chains/btc/derive.ts';
import { bitcoin, type BtcNetwork } from '../../chains/btc/network.ts';
import { decodePsbt, type Psbt } from '../../chains/btc/psbt.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';

const root = HDKey.fromMasterSeed(createHash('sha512').update('flock test keys of the Bitcoin family').digest());

export interface Own {
  readonly address: string;
  readonly path: string;
  readonly privateKey: Uint8Array;
  readonly script: Uint8Array;
}

const derived = new Map<string, Own>();

/** One of the test's own addresses with its key; derived once, since properties ask for the same ones all the time. */
export function own(
  index: number,
  script: ScriptType = 'p2wpkh',
  network: BtcNetwork = bitcoin,
  change: 0 | 1 = 0,
): Own {
  const key = `${network.prefixes.bech32} ${script} ${change} ${index}`,
    known = derived.get(key) ?? derive(index, script, network, change);
  derived.set(key, known);
  return known;
}

function derive(index: number, script: ScriptType, network: BtcNetwork, change: 0 | 1): Own {
  const account = root.derive(ACCOUNT_PATHS[script]);
  const { address, path } = deriveAddress(network, account.publicExtendedKey, change, index, script);
  return { address, path, privateKey: root.derive(path).privateKey!, script: scriptFor(address, network) };
}

export function scriptFor(address: string, network: BtcNetwork = bitcoin): Uint8Array {
  const parsed = parseAddress(network, address);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed));
  return parsed.bytes;
}

/** The address at a path of the test's own keys, or null. */
export function ownAddressAt(path: string, network: BtcNetwork = bitcoin): string | null {
  const [, purpose, change, index] = /^m\/(44|49|84|86)'\/0'\/0'\/([01])\/(\d+)$/.exec(path) ?? [];
  const script = { 44: 'p2pkh', 49: 'p2sh-p2wpkh', 84: 'p2wpkh', 86: 'p2tr' }[Number(purpose)] as
    ScriptType | undefined;
  return script === undefined ? null : own(Number(index), script, network, Number(change) as 0 | 1).address;
}

export const SENDER = own(0);
/** BIP-173's example of a witness program of 20 bytes. */
export const RECIPIENT = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

export const hexId = (seed: string): string => createHash('sha256').update(seed).digest('hex');

/** A transaction that pays `amount` to a script at output 1, from nowhere in particular. */
export function payingTransaction(script: Uint8Array, amount: bigint, seed: string): Transaction {
  const transaction = new Transaction();
  transaction.version = 2;
  transaction.addInput(Buffer.from(hexId(seed), 'hex'), 3, 0xffff_fffe);
  transaction.addOutput(scriptFor(RECIPIENT), 4_321n);
  transaction.addOutput(script, amount);
  return transaction;
}

let coins = 0;

/** A confirmed coin of an address, proven by its transaction. */
export function coinOf(amount: bigint, more: Partial<Coin> & { readonly script?: Uint8Array } = {}): Coin {
  const { script = SENDER.script, ...rest } = more;
  const transaction = payingTransaction(script, amount, `coin ${(coins += 1)}`);
  return {
    txid: transaction.getId(),
    vout: 1,
    valueSats: amount.toString(),
    height: 800_000,
    coinbase: false,
    spender: null,
    previous: transaction.toHex(),
    ...rest,
  };
}

export function inputsOf(more: Partial<BtcInputs> = {}): BtcInputs {
  return {
    readAtHeight: 800_100,
    readAtHash: '0'.repeat(64),
    coins: [coinOf(1_000_000n)],
    estimateSatPerKvb: '10000',
    mempoolMinSatPerKvb: '1000',
    relayMinSatPerKvb: '1000',
    incrementalSatPerKvb: '1000',
    ...more,
  };
}

export function intentOf(more: Partial<Intent> = {}): Intent {
  return {
    chain: 'btc',
    from: SENDER.address,
    fromPath: SENDER.path,
    to: RECIPIENT,
    amount: 100_000n,
    token: null,
    tag: null,
    ...more,
  };
}

export function accepted(built: Unsigned | Refusal): Unsigned {
  if (isRefusal(built)) throw new Error(JSON.stringify(built));
  return built;
}

export function psbtIn({ payload }: Pick<Unsigned, 'payload'>): Psbt {
  const decoded = decodePsbt(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.psbt;
}
