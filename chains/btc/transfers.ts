/** Payments of a Bitcoin block. Spec: chains.md 4.3 (B1 to B10), G2, G3, G21, G22. */
import { decimalTextOf } from '../../protocol/lossless-json.ts';
import type { Block, Catalogue, Decoded, Outcome, Transfer } from '../chain.ts';
import { exactDecimal } from '../decimal.ts';
import { bytesIn, countIn, hashIn, listIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import { isCoinbase, spentScripts } from './inputs.ts';
import { BTC_DECIMALS, COINBASE_CONFIRMATIONS, type BtcNetwork } from './network.ts';
import { addressOf, outputOf } from './script.ts';

/** The answer of `getblock hash 2` or `3`, of any version of the node, parsed without loss. */
export type BtcBlock = Answer;

const OP_RETURN = 0x6a;
const OP_CHECKSIG = 0xac;

/** Why a script without an address pays nobody that we could have issued. */
function reasonOf(script: Uint8Array): string {
  if (script[0] === OP_RETURN) return 'data output: pays nobody';
  if (script.at(-1) === OP_CHECKSIG && (script.length === 35 || script.length === 67)) {
    return 'bare public key: no payment to an address';
  }
  return 'script without an address';
}

/** Satoshi from the decimal text of a value in bitcoin. Throws: MalformedReply. */
function satoshiOf(value: unknown): bigint {
  const amount = exactDecimal(decimalTextOf(value) ?? '', BTC_DECIMALS);
  return amount === null || amount < 0n ? malformed('value of an output', value) : amount;
}

function transactionsOf(block: BtcBlock): readonly Answer[] {
  // At verbosity 1 the list holds txids, which say nothing of payments.
  const transactions = listIn(block['tx'], 'transactions of a block').map((transaction) => objectIn(transaction, 'transaction'));
  if (new Set(transactions.map(({ txid }) => txid)).size !== transactions.length) malformed('a transaction stands in the block twice', block);
  return transactions;
}

/**
 * Every payment of a block: one per output, because two outputs to one address are two deposits (B1). Scripts are
 * matched by their bytes, never by the node's address text (B7). Throws: MalformedReply.
 */
export function transfersIn(network: BtcNetwork, block: Block<BtcBlock>, _catalogue: Catalogue): Decoded {
  const transfers: Transfer[] = [];
  const ignored: { txid: string; reason: string }[] = [];
  for (const transaction of transactionsOf(block.raw)) {
    const txid = hashIn(transaction['txid'], 'txid');
    const inputs = listIn(transaction['vin'], 'inputs').map((input) => objectIn(input, 'input'));
    const coinbase = inputs.some(isCoinbase);
    const spent = new Set(inputs.flatMap(spentScripts));
    const senders = sendersOf(network, spent);
    for (const [position, entry] of listIn(transaction['vout'], 'outputs').entries()) {
      const read = readOutput(network, objectIn(entry, 'output'), position, spent);
      if ('reason' in read) {
        ignored.push({ txid, reason: `output ${read.outputIndex}: ${read.reason}` });
        continue;
      }
      transfers.push({
        txid, ...read, decimals: BTC_DECIMALS, tokenContract: null, tokenSymbol: network.nativeSymbol, tag: null,
        // Read for the few payments that are ours; spelling all inputs of a block would take as long as all the rest.
        get from() { return senders(); },
        ...(coinbase ? { threshold: COINBASE_CONFIRMATIONS } : {}),
      });
    }
  }
  return { transfers, ignored };
}

/** Addresses of the scripts that a transaction spends, spelt when they are first asked for. */
function sendersOf(network: BtcNetwork, spent: ReadonlySet<string>): () => readonly string[] {
  let addresses: readonly string[] | undefined;
  return () => addresses ??= [...spent].flatMap((hex) => {
    const output = outputOf(Buffer.from(hex, 'hex'));
    return output === null ? [] : [addressOf(network.prefixes, output)];
  });
}

type ReadOutput = { outputIndex: number } & ({ to: string; amount: bigint } | { reason: string });

function readOutput(network: BtcNetwork, output: Answer, position: number, spent: ReadonlySet<string>): ReadOutput {
  const outputIndex = countIn(output['n'], 'index of an output');
  if (outputIndex !== position) malformed('outputs out of order', output);
  const amount = satoshiOf(output['value']);
  const script = bytesIn(objectIn(output['scriptPubKey'], 'scriptPubKey')['hex'], 'script of an output');
  const paid = outputOf(script);
  if (paid === null) return { outputIndex, reason: reasonOf(script) };
  if (amount === 0n) return { outputIndex, reason: 'zero amount' };
  if (spent.has(Buffer.from(script).toString('hex'))) {
    return { outputIndex, reason: 'change: pays a script that the transaction spends' };
  }
  return { outputIndex, to: addressOf(network.prefixes, paid), amount };
}

/** What the wanted transactions did: one that is in a block has succeeded. The fee is known at verbosity 3. */
export function outcomesIn(_network: BtcNetwork, block: Block<BtcBlock>, wanted: ReadonlySet<string>): readonly Outcome[] {
  return transactionsOf(block.raw).flatMap((transaction) => {
    const txid = hashIn(transaction['txid'], 'txid');
    if (!wanted.has(txid)) return [];
    const { fee } = transaction;
    return [{ txid, success: true, reason: null, fee: fee === undefined || fee === null ? null : satoshiOf(fee) }];
  });
}
