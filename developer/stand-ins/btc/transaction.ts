/** The ledger's own transactions: rewards, and payments of somebody outside who holds a key. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Block, crypto, payments, script as scripts, Transaction } from 'bitcoinjs-lib';
import type { LedgerBlock } from './block.ts';
import type { Spent } from './scripts.ts';

export const SUBSIDY_SATS = 5_000_000_000n;
const NO_TXID = Buffer.alloc(32);
const FINAL = 0xffff_ffff;

/** Outpoints that a transaction spends, `txid:vout`. */
export function outpointsOf({ ins }: Transaction): string[] {
  return ins.map(({ hash, index }) => `${Buffer.from(hash).reverse().toString('hex')}:${index}`);
}

/**
 * The reward of a block: its height is in the script (BIP-34), its second output commits to the witnesses
 * (BIP-141).
 */
export function coinbaseTransaction(
  height: number,
  extra: number,
  script: Uint8Array,
  value: bigint,
  others: readonly Transaction[],
): Transaction {
  const transaction = new Transaction();
  transaction.version = 2;
  const heightBytes = Buffer.alloc(4);
  heightBytes.writeUInt32LE(height);
  const extraBytes = Buffer.alloc(4);
  extraBytes.writeUInt32LE(extra);
  transaction.addInput(
    NO_TXID,
    FINAL,
    FINAL,
    Buffer.concat([Uint8Array.of(3), heightBytes.subarray(0, 3), Uint8Array.of(4), extraBytes]),
  );
  transaction.addOutput(script, value);
  transaction.setWitness(0, [Buffer.alloc(32)]);
  const commitment = Block.calculateMerkleRoot([transaction, ...others], true);
  transaction.addOutput(Buffer.concat([Buffer.from('6a24aa21a9ed', 'hex'), commitment]), 0n);
  return transaction;
}

/** Somebody outside: a key of no worth, and the script that it spends. */
export class Payer {
  readonly #privateKey: Uint8Array;
  readonly #publicKey: Uint8Array;
  readonly script: Uint8Array;

  constructor(name: string) {
    this.#privateKey = crypto.sha256(Buffer.from(`flock btc stand-in ${name}`));
    this.#publicKey = secp256k1.getPublicKey(this.#privateKey, true);
    this.script = payments.p2wpkh({ pubkey: this.#publicKey }).output!;
  }

  /** A signed payment from coins of this payer, change back; replaceable. */
  pay(
    coins: readonly (Spent & { txid: string; vout: number })[],
    outputs: readonly Spent[],
    feeSats: bigint,
  ): Transaction {
    const transaction = new Transaction();
    transaction.version = 2;
    for (const { txid, vout } of coins) transaction.addInput(Buffer.from(txid, 'hex').reverse(), vout, 0xffff_fffd);
    for (const { script, value } of outputs) transaction.addOutput(script, value);
    const into = coins.reduce((sum, { value }) => sum + value, 0n);
    const out = outputs.reduce((sum, { value }) => sum + value, 0n);
    transaction.addOutput(this.script, into - out - feeSats);
    const code = payments.p2pkh({ pubkey: this.#publicKey }).output!,
      type = Transaction.SIGHASH_ALL;
    coins.forEach(({ value }, index) => {
      const signature = secp256k1.sign(transaction.hashForWitnessV0(index, code, value, type), this.#privateKey, {
        prehash: false,
        lowS: true,
      });
      transaction.setWitness(index, [scripts.signature.encode(signature, type), this.#publicKey]);
    });
    return transaction;
  }
}

/** Block 0 of the main network. Source: bitcoin/bitcoin src/kernel/chainparams.cpp. */
export const GENESIS: LedgerBlock = {
  height: 0,
  hash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  parentHash: '0'.repeat(64),
  merkleRoot: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  version: 1,
  time: 1_231_006_505,
  bits: '1d00ffff',
  nonce: 2_083_236_893,
  spent: new Map(),
  transactions: [
    Transaction.fromHex(
      '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d010445' +
        '5468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e' +
        '64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7' +
        '105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac' +
        '00000000',
    ),
  ],
};
