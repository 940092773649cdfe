/**
 * Blocks, transactions and outputs in the shapes of Bitcoin Core 30. Source: bitcoin/bitcoin src/core_write.cpp,
 * src/rpc/blockchain.cpp.
 */
import type { Transaction } from 'bitcoinjs-lib';
import { Amount } from './json.ts';
import type { LedgerBlock, LedgerCoin } from './block.ts';
import type { BtcLedger } from './ledger.ts';
import { describe } from './scripts.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** An output script as nodes since Core 22 describe it: one `address`, none where there is none. */
export function scriptShape(script: Uint8Array): object {
  const { type, address } = describe(script);
  if (address === undefined) return { asm: '', desc: `raw(${hex(script)})`, hex: hex(script), type };
  return { asm: '', desc: `addr(${address})`, hex: hex(script), address, type };
}

/** Verbosity 2 of a transaction; with previous outputs and the fee where the coins are given (3). */
export function transactionShape(transaction: Transaction, spent: ReadonlyMap<string, LedgerCoin> | null): object {
  const vin = transaction.ins.map((input) => {
    const { script, witness, sequence, index } = input,
      txid = hex(Buffer.from(input.hash).reverse());
    const witnesses = witness.length === 0 ? {} : { txinwitness: witness.map(hex) };
    if (transaction.isCoinbase()) return { coinbase: hex(script), ...witnesses, sequence };
    const coin = spent?.get(`${txid}:${index}`);
    const prevout =
      coin === undefined
        ? {}
        : {
            prevout: {
              generated: coin.coinbase,
              height: coin.height,
              value: new Amount(coin.value),
              scriptPubKey: scriptShape(coin.script),
            },
          };
    return { txid, vout: index, scriptSig: { asm: '', hex: hex(script) }, ...witnesses, ...prevout, sequence };
  });
  return {
    txid: transaction.getId(),
    hash: hex(Buffer.from(transaction.getHash(true)).reverse()),
    version: transaction.version,
    size: transaction.byteLength(),
    vsize: transaction.virtualSize(),
    weight: transaction.weight(),
    locktime: transaction.locktime,
    vin,
    vout: transaction.outs.map(({ value, script }, n) => ({
      value: new Amount(value),
      n,
      scriptPubKey: scriptShape(script),
    })),
    ...feeOf(transaction, spent),
    hex: transaction.toHex(),
  };
}

function feeOf(transaction: Transaction, spent: ReadonlyMap<string, LedgerCoin> | null): { fee?: Amount } {
  if (spent === null || transaction.isCoinbase()) return {};
  const into = transaction.ins.map(
    ({ hash, index }) => spent.get(`${hex(Buffer.from(hash).reverse())}:${index}`)?.value,
  );
  if (into.includes(undefined)) return {};
  return {
    fee: new Amount(
      transaction.outs.reduce(
        (rest, { value }) => rest - value,
        into.reduce<bigint>((sum, value) => sum + value!, 0n),
      ),
    ),
  };
}

/** A header as `getblockheader` answers it; `tip` is the height of the node's newest block. */
export function headerShape(ledger: BtcLedger, block: LedgerBlock, tip: number): Record<string, unknown> {
  const onChain = ledger.blockAt(block.height) === block && block.height <= tip;
  const next = block.height < tip ? ledger.blockAt(block.height + 1) : undefined;
  return {
    hash: block.hash,
    confirmations: onChain ? tip - block.height + 1 : -1,
    height: block.height,
    version: block.version,
    versionHex: (block.version >>> 0).toString(16).padStart(8, '0'),
    merkleroot: block.merkleRoot,
    time: block.time,
    mediantime: block.time,
    nonce: block.nonce,
    bits: block.bits,
    difficulty: 1,
    chainwork: '0'.repeat(64),
    nTx: block.transactions.length,
    ...(block.height === 0 ? {} : { previousblockhash: block.parentHash }),
    ...(onChain && next !== undefined ? { nextblockhash: next.hash } : {}),
  };
}

/** A block at a verbosity from 1 to 3. */
export function blockShape(ledger: BtcLedger, block: LedgerBlock, tip: number, verbosity: number): object {
  const tx =
    verbosity === 1
      ? block.transactions.map((transaction) => transaction.getId())
      : block.transactions.map((transaction) => transactionShape(transaction, verbosity >= 3 ? block.spent : null));
  const size = block.transactions.reduce((sum, transaction) => sum + transaction.byteLength(), 81);
  return { ...headerShape(ledger, block, tip), strippedsize: size, size, weight: 4 * size, tx };
}
