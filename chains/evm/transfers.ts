/**
 * Every payment of an EVM block: native values, token logs and internal calls. V1–V20.
 *
 * Keys (G2): a log's place in its own receipt · −1 the transaction's own value · −2 − n an internal call, n its
 * place among those that moved value. Where the chain logs native transfers (V8), an internal one has its log's place:
 * one source a network, so that a key never depends on the endpoint.
 *
 * Runs over every log of every block, so it compares node text with node text and makes an object only for what it
 * reports.
 */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Outcome,
  type Token,
  type Transfer,
  type Unattributed,
} from '../chain.ts';
import { addressOfHex } from './address.ts';
import { assertWhole, isStateSync } from './block.ts';
import type { RawLog } from './raw.ts';
import type { EvmRaw, RawReceipt, RawTransaction } from './raw.ts';
import { doubtOfTraces } from './contradictions.ts';
import { evmOf, type EvmNetwork } from './network.ts';
import { bigintOf, isSameHex } from './quantity.ts';
import { internalCallsOf, type InternalCall } from './traces.ts';

/** keccak256("Transfer(address,address,uint256)"). Source: ERC-20. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const WORD_CHARACTERS = 66; // 0x and 32 bytes
const ZERO_WORD = `0x${'0'.repeat(64)}`;
const ADDRESS_PADDING = '0'.repeat(24);

const lowerCaseIndexes = new WeakMap<Catalogue, ReadonlyMap<string, Token>>();

/** The catalogue by the lower-case contracts of node answers. */
export function lowerCaseIndexOf(catalogue: Catalogue): ReadonlyMap<string, Token> {
  let index = lowerCaseIndexes.get(catalogue);
  if (index === undefined) {
    index = new Map([...catalogue].map(([contract, token]) => [contract.toLowerCase(), token]));
    lowerCaseIndexes.set(catalogue, index);
  }
  return index;
}

const formerKeys = new WeakMap<Transfer, number>();

/** The key that a payment from inside a contract had while all frames were counted; null for any other. F21. */
export function formerOutputIndex(transfer: Transfer): number | null {
  return formerKeys.get(transfer) ?? null;
}

/** What a walk over a block collects. */
interface Walk {
  readonly network: EvmNetwork;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly raw: EvmRaw;
  readonly internal: ReadonlyMap<string, readonly InternalCall[]> | null;
  readonly transfers: Transfer[];
  readonly ignored: { txid: string; reason: string }[];
  readonly unattributed: Unattributed[];
}

/**
 * Payments of a block, whatever their address; what looked like one and is none; growth without a payer.
 * Throws: ChainUnavailable when the unit is not whole (G8, G9), MalformedReply.
 */
export function transfersIn(network: Network, block: Block<EvmRaw>, catalogue: Catalogue): Decoded {
  assertWhole(network, block);
  const doubt = block.raw.traces === undefined ? null : doubtOfTraces(network, block, block.raw.traces);
  if (doubt !== null) throw new ChainUnavailable(network.slug, `block ${block.height}: ${doubt}`);
  const evm = evmOf(network),
    { raw } = block,
    { transactions, withdrawals } = raw.block;
  const walk: Walk = {
    network: evm,
    tokens: lowerCaseIndexOf(catalogue),
    raw,
    transfers: [],
    ignored: [],
    unattributed: [],
    internal:
      evm.nativeTransferLog !== null || raw.traces === undefined
        ? null
        : internalCallsOf(
            network,
            raw.traces,
            transactions.map(({ hash }) => hash),
          ),
  };
  for (let i = 0; i < transactions.length; i++) readTransaction(walk, transactions[i]!, raw.receipts[i]!);
  for (const { index, address, amount } of withdrawals ?? []) {
    walk.unattributed.push({
      to: addressOfHex(address),
      amount: bigintOf(amount, 'withdrawal') * 1_000_000_000n,
      tokenContract: null,
      reason: 'validator withdrawal',
      evidence: `withdrawal ${bigintOf(index, 'withdrawal')}`,
    });
  }
  return { transfers: walk.transfers, ignored: walk.ignored, unattributed: walk.unattributed };
}

function readTransaction(walk: Walk, transaction: RawTransaction, receipt: RawReceipt): void {
  const reasons = new Set<string>();
  if (receipt.status === '0x1') {
    readValue(walk, transaction, reasons);
    for (let ordinal = 0; ordinal < receipt.logs.length; ordinal++) {
      readLog(walk, transaction, receipt.logs[ordinal]!, ordinal, reasons);
    }
    for (const { ordinal, place, from, to, value } of walk.internal?.get(transaction.hash) ?? []) {
      pushNative(walk, transaction.hash, -2 - ordinal, from, to, value);
      formerKeys.set(walk.transfers.at(-1)!, -2 - place);
    }
  } else {
    reasons.add('transaction failed');
  }
  for (const reason of reasons) walk.ignored.push({ txid: transaction.hash.toLowerCase(), reason });
}

/** V1, V9, V14, G22: the top-level value. */
function readValue(walk: Walk, { hash, from, to, value }: RawTransaction, reasons: Set<string>): void {
  if (to === null || to === undefined) return;
  const amount = bigintOf(value, 'transaction value');
  if (amount === 0n) return;
  if (isSameHex(from, to)) reasons.add('native transfer to oneself');
  else pushNative(walk, hash, -1, from, to, amount);
}

function pushNative(walk: Walk, hash: string, outputIndex: number, from: string, to: string, amount: bigint): void {
  walk.transfers.push({
    txid: hash.toLowerCase(),
    outputIndex,
    to: addressOfHex(to),
    amount,
    decimals: walk.network.nativeDecimals,
    tokenContract: null,
    tokenSymbol: walk.network.nativeSymbol,
    tag: null,
    from: [addressOfHex(from)],
  });
}

function readLog(walk: Walk, transaction: RawTransaction, log: RawLog, ordinal: number, reasons: Set<string>): void {
  const topic = log.topics[0];
  if (isSameHex(topic, TRANSFER_TOPIC)) return readTokenLog(walk, transaction, log, ordinal, reasons);
  const { nativeTransferLog: native } = walk.network;
  if (native !== null && isSameHex(topic, native.topic) && isSameHex(log.address, native.emitter)) {
    readNativeLog(walk, transaction, log, ordinal);
  }
}

/** V2, V3, V14, V15. Transfer(address indexed from, address indexed to, uint256 value) */
function readTokenLog(walk: Walk, { hash }: RawTransaction, log: RawLog, ordinal: number, reasons: Set<string>): void {
  const { topics, data } = log;
  if (topics.length === 4) return void reasons.add('transfer of an NFT');
  const token = walk.tokens.get(log.address) ?? walk.tokens.get(log.address.toLowerCase());
  if (token === undefined) return void reasons.add('token not in the catalogue');
  const from = topics[1],
    to = topics[2];
  if (
    topics.length !== 3 ||
    from === undefined ||
    to === undefined ||
    data.length !== WORD_CHARACTERS ||
    from.slice(2, 26) !== ADDRESS_PADDING ||
    to.slice(2, 26) !== ADDRESS_PADDING
  ) {
    return void reasons.add('not the shape of a transfer');
  }
  if (data === ZERO_WORD) return void reasons.add('zero-value transfer');
  if (isSameHex(from, to)) return void reasons.add('token transfer to oneself');
  const amount = receivedOf(walk, token, log, to);
  if (amount === 0n) return void reasons.add('nothing of the transfer arrived');
  walk.transfers.push({
    txid: hash.toLowerCase(),
    outputIndex: ordinal,
    to: addressOfHex(to),
    amount,
    decimals: token.decimals,
    tokenContract: token.contract,
    tokenSymbol: token.symbol,
    tag: null,
    from: [addressOfHex(from)],
  });
}

/**
 * The logged amount; of a token that keeps a part, the smaller of it and what the balance grew by (V12). Several
 * movements of it to one address in a block cannot be distinguished, and each then counts as logged.
 */
function receivedOf(walk: Walk, token: Token, log: RawLog, to: string): bigint {
  const logged = bigintOf(log.data, 'data of a transfer');
  if (token.feeOnTransfer !== true) return logged;
  const key = receivedKey(log.address, to),
    received = walk.raw.received?.[key];
  if (received === undefined) {
    throw new ChainUnavailable(walk.network.slug, 'received amount of a fee-on-transfer token unknown');
  }
  const growth = BigInt(received);
  return movementsOf(walk.raw, key) > 1 || growth > logged ? logged : growth < 0n ? 0n : growth;
}

/** `contract to` of a transfer log, lower case. */
export function receivedKey(contract: string, toTopic: string): string {
  return `${contract.toLowerCase()} 0x${toTopic.slice(-40).toLowerCase()}`;
}

/** Transfer logs of a block from or to the address of the key. */
function movementsOf(raw: EvmRaw, key: string): number {
  const [contract, address] = key.split(' ');
  const word = `0x${ADDRESS_PADDING}${address!.slice(2)}`;
  const touches = ({ address: emitter, topics }: RawLog) =>
    emitter.toLowerCase() === contract &&
    isSameHex(topics[0], TRANSFER_TOPIC) &&
    (isSameHex(topics[1], word) || isSameHex(topics[2], word));
  return raw.receipts.reduce((count, { logs }) => count + logs.filter(touches).length, 0);
}

/**
 * V8: LogTransfer(address indexed token, address indexed from, address indexed to, uint256 amount, …4 more words).
 * The one that repeats the top-level value is dropped: V1 has counted it. State syncs have no payer (V10).
 */
function readNativeLog(walk: Walk, transaction: RawTransaction, log: RawLog, ordinal: number): void {
  const from = log.topics[2],
    to = log.topics[3];
  if (from === undefined || to === undefined || log.data.length < WORD_CHARACTERS) return;
  const amount = bigintOf(log.data.slice(0, WORD_CHARACTERS), 'data of a native transfer');
  if (amount === 0n || isSameHex(from, to)) return;
  const sender = `0x${from.slice(-40)}`,
    receiver = `0x${to.slice(-40)}`;
  const isTopLevel =
    isSameHex(transaction.from, sender) &&
    isSameHex(transaction.to, receiver) &&
    amount === bigintOf(transaction.value, 'transaction value');
  if (isStateSync(transaction)) {
    walk.unattributed.push({
      to: addressOfHex(to),
      amount,
      tokenContract: null,
      reason: 'state sync',
      evidence: transaction.hash.toLowerCase(),
    });
  } else if (!isTopLevel) {
    pushNative(walk, transaction.hash, ordinal, from, to, amount);
  }
}

/** What the wanted transactions of a block did; `fee` is gas × price plus the parts of L1 and operator, in wei. */
export function outcomesIn(network: Network, block: Block<EvmRaw>, wanted: ReadonlySet<string>): readonly Outcome[] {
  assertWhole(network, block);
  const {
    block: { transactions },
    receipts,
  } = block.raw;
  return receipts.flatMap((receipt, i) =>
    wanted.has(receipt.transactionHash.toLowerCase()) ? [outcomeOf(receipt, transactions[i]!.gasPrice)] : [],
  );
}

/**
 * What a receipt says of its transaction; `gasPrice` is the transaction's own, for nodes whose receipts have no
 * effective price. Throws: MalformedReply for a receipt without a status.
 */
export function outcomeOf(receipt: RawReceipt, gasPrice?: string): Outcome {
  const success = bigintOf(receipt.status, 'receipt status') === 1n;
  const txid = receipt.transactionHash.toLowerCase();
  return { txid, success, reason: success ? null : 'reverted', fee: feeOf(receipt, gasPrice) };
}

/**
 * Sources: op-geth `core/types/rollup_cost.go`: Isthmus gas × scalar ÷ 10^6 + constant, Jovian gas × scalar × 100 +
 * constant.
 */
function feeOf(receipt: RawReceipt, gasPrice: string | undefined): bigint | null {
  const {
    gasUsed,
    effectiveGasPrice = gasPrice,
    l1Fee,
    operatorFeeScalar: scalar,
    operatorFeeConstant: constant,
  } = receipt;
  if (effectiveGasPrice === undefined) return null;
  const orZero = (value: string | null | undefined, what: string) =>
    value === undefined || value === null ? 0n : bigintOf(value, what);
  const gas = bigintOf(gasUsed, 'gasUsed'),
    isJovian = receipt.daFootprintGasScalar !== undefined && receipt.daFootprintGasScalar !== null;
  const scaled = gas * orZero(scalar, 'operatorFeeScalar');
  const operator = (isJovian ? scaled * 100n : scaled / 1_000_000n) + orZero(constant, 'operatorFeeConstant');
  return gas * bigintOf(effectiveGasPrice, 'effectiveGasPrice') + orZero(l1Fee, 'l1Fee') + operator;
}
