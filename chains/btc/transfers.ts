/** Payments of a Bitcoin block. Spec: chains.md 4.3 (B1 to B10), G2, G3, G21, G22. */
import { decimalTextOf } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, type Block, type Catalogue, type Decoded, type Outcome, type Transfer } from '../chain.ts';
import { exactDecimal } from '../decimal.ts';
import { countIn, hashIn, listIn, malformed, objectIn, type Answer } from '../node-answer.ts';
import { isCoinbase, spentScripts } from './inputs.ts';
import { BTC_DECIMALS, COINBASE_CONFIRMATIONS, type BtcNetwork } from './network.ts';
import { addressOf, outputOfHex } from './script.ts';

/** The answer of `getblock hash 2` or `3`, of any version of the node, parsed without loss. */
export type BtcBlock = Answer;

/** OP_RETURN …; <key> OP_CHECKSIG */
const DATA = /^6a/;
const BARE_KEY = /^(?:21[0-9a-f]{66}|41[0-9a-f]{130})ac$/;

/** Why a script without an address pays nobody that we could have issued. */
function reasonOf(script: string): string {
  if (DATA.test(script)) return 'data output: pays nobody';
  return BARE_KEY.test(script) ? 'bare public key: no payment to an address' : 'script without an address';
}

/** Values as Bitcoin Core prints them, below 2^53 satoshi as all of them are. */
const PLAIN_VALUE = /^([0-9]{1,8})\.([0-9]{8})$/;
const SATOSHI_PER_BITCOIN = 100_000_000;

/** Satoshi from the decimal text of a value in bitcoin. Throws: MalformedReply. */
function satoshiOf(value: unknown): bigint {
  const plain = typeof value === 'string' ? PLAIN_VALUE.exec(value) : null;
  if (plain !== null) return BigInt(Number(plain[1]) * SATOSHI_PER_BITCOIN + Number(plain[2]));
  const amount = exactDecimal(decimalTextOf(value) ?? '', BTC_DECIMALS);
  return amount === null || amount < 0n ? malformed('value of an output', value) : amount;
}

function transactionsOf(block: BtcBlock): readonly Answer[] {
  // At verbosity 1 the list holds txids, which say nothing of payments.
  const transactions = listIn(block['tx'], 'transactions of a block').map((entry) => objectIn(entry, 'transaction'));
  const distinct = new Set(transactions.map(({ txid }) => txid));
  if (distinct.size !== transactions.length) malformed('the block lists a transaction twice', block);
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
    const from = sendersOf(network, spent);
    const threshold = coinbase ? { threshold: COINBASE_CONFIRMATIONS } : undefined;
    for (const [position, entry] of listIn(transaction['vout'], 'outputs').entries()) {
      const output = objectIn(entry, 'output');
      if (countIn(output['n'], 'index of an output') !== position) malformed('outputs out of order', output);
      const amount = satoshiOf(output['value']);
      const script = scriptIn(output);
      const paid = outputOfHex(script);
      const reason =
        paid === null
          ? reasonOf(script)
          : amount === 0n
            ? 'zero amount'
            : spent.has(script)
              ? 'change: pays a script that the transaction spends'
              : null;
      if (paid === null || reason !== null) {
        ignored.push({ txid, reason: `output ${position}: ${reason}` });
        continue;
      }
      transfers.push({
        txid,
        outputIndex: position,
        to: addressOf(network.prefixes, paid),
        amount,
        decimals: BTC_DECIMALS,
        tokenContract: null,
        tokenSymbol: network.nativeSymbol,
        tag: null,
        from,
        ...threshold,
      });
    }
  }
  return { transfers, ignored };
}

/** Addresses of the scripts that a transaction spends. */
function sendersOf(network: BtcNetwork, spent: ReadonlySet<string>): readonly string[] {
  return [...spent].flatMap((hex) => {
    const output = outputOfHex(hex);
    return output === null ? [] : [addressOf(network.prefixes, output)];
  });
}

const HEX = /^(?:[0-9a-f]{2})*$/;

/** The script of an output in lower-case hex. Throws: MalformedReply. */
function scriptIn(output: Answer): string {
  const { hex } = objectIn(output['scriptPubKey'], 'scriptPubKey');
  const script = typeof hex === 'string' ? hex.toLowerCase() : null;
  return script !== null && HEX.test(script) ? script : malformed('script of an output', output);
}

/** What the wanted transactions did: one that is in a block has succeeded. The fee is known at verbosity 3. */
export function outcomesIn(
  _network: BtcNetwork,
  block: Block<BtcBlock>,
  wanted: ReadonlySet<string>,
): readonly Outcome[] {
  return transactionsOf(block.raw).flatMap((transaction) => {
    const txid = hashIn(transaction['txid'], 'txid');
    if (!wanted.has(txid)) return [];
    return [{ txid, success: true, reason: null, fee: feeIn(transaction) }];
  });
}

/**
 * What a transaction paid, satoshi: as the node states it, and as its inputs less its outputs say where the node names
 * the outputs that it spends; null where neither is given. Throws: ChainUnavailable when the two differ,
 * MalformedReply.
 */
export function feeIn(transaction: Answer): bigint | null {
  const inputs = listIn(transaction['vin'], 'inputs').map((input) => objectIn(input, 'input'));
  const stated = transaction['fee'] === undefined || transaction['fee'] === null ? null : satoshiOf(transaction['fee']);
  const spent = inputs.map(({ prevout }) =>
    prevout === undefined || prevout === null ? null : satoshiOf(objectIn(prevout, 'prevout')['value']),
  );
  if (inputs.some(isCoinbase) || spent.includes(null)) return stated;
  const sum = (amounts: readonly (bigint | null)[]) => amounts.reduce<bigint>((total, amount) => total + amount!, 0n);
  const paid =
    sum(spent) -
    sum(listIn(transaction['vout'], 'outputs').map((output) => satoshiOf(objectIn(output, 'output')['value'])));
  if (paid < 0n || (stated !== null && stated !== paid)) {
    throw new ChainUnavailable(
      'btc',
      `transaction ${String(transaction['txid'])}: a fee of ${stated ?? 'none'} beside inputs less outputs of ${paid}`,
    );
  }
  return paid;
}
