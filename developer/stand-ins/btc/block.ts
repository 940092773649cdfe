/** A block of the stand-in's ledger. */
import type { Transaction } from 'bitcoinjs-lib';

export interface LedgerCoin {
  readonly txid: string;
  readonly vout: number;
  readonly script: Uint8Array;
  readonly value: bigint;
  readonly height: number;
  readonly coinbase: boolean;
}

export interface LedgerBlock {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly merkleRoot: string;
  readonly version: number;
  readonly time: number;
  readonly bits: string;
  readonly nonce: number;
  readonly transactions: readonly Transaction[];
  /** Coins that the block spent, by outpoint: what undoes it. */
  readonly spent: ReadonlyMap<string, LedgerCoin>;
}
