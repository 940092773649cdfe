/** Submitting signed bytes and finding out what became of them. G26–G28, V41, chains.md 5.2. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import {
  ChainUnavailable,
  MalformedReply,
  type BroadcastResult,
  type Endpoint,
  type Fate,
  type Outcome,
  type Signed,
  type Transport,
  type Unsigned,
} from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
import { asDoubt } from '../json-rpc.ts';
import { parseReceipt, parseHeader } from './block.ts';
import { decodeSigned, txidOf } from './envelope.ts';
import { proveDeath, type DeathParts } from './death.ts';
import { LATEST, type Heads } from './heads.ts';
import type { EvmNetwork } from './network.ts';
import { ask, askAll, atHeight, call, tryAsk } from './node.ts';
import { bigintOf, countOf } from './quantity.ts';
import { explainRejection, minimumPriceOf, type Verdict } from './rejection.ts';
import { outcomeOf } from './transfers.ts';

export interface SubmissionParts {
  readonly network: EvmNetwork;
  readonly transport: Transport;
  readonly heads: Heads;
  /** Called when a node does not take typed envelopes. */
  onTypesRefused(): void;
  /**
   * Called with the least price per gas that a node's pool takes, wei, when the node refuses a transaction below it.
   */
  onMinimumPrice(priceWei: bigint): void;
}

type Rejected = Extract<Verdict, { kind: 'rejected' }>;

/**
 * Submits the bytes to one endpoint after another until one takes them. A refusal is final only when no endpoint took
 * them, none answered "unknown" and none knows the hash: a node that is behind refuses what a current one accepts.
 * Throws: Error when the txid is not that of the bytes (G28), MalformedReply when a node names another hash.
 */
export async function broadcast(parts: SubmissionParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  if (txidOf(payload) !== txid) throw new Error('the txid is not the hash of the signed bytes');
  const { network, transport } = parts;
  const verdicts = await submitToEach(transport, {
    submit: (endpoint) => submitTo(parts, endpoint, payload, txid),
    isTaken: ({ kind }) => kind === 'accepted' || kind === 'already_known',
  });
  if (verdicts.taken !== null) return { kind: verdicts.taken.kind as 'accepted' | 'already_known', txid };
  if (!verdicts.asked) return notProven([], 'every endpoint is backing off');
  // In a pool or in a block.
  const has = async (endpoint: Endpoint) =>
    (await ask(network, endpoint, call('eth_getTransactionByHash', txid))) !== null;
  if (await oneHas(transport, verdicts, has)) return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) =>
    verdict.kind === 'look_up' ? 'the nonce is used' : verdict.kind === 'unknown' ? verdict.reason : null,
  );
  const rejected = verdicts.others.map(({ verdict }) => verdict).findLast((verdict) => verdict.kind === 'rejected');
  if (rejected === undefined || doubts.length > 0) return notProven(doubts, 'not answered');
  return { kind: 'rejected_final', refusal: await refusalOf(parts, payload, rejected) };
}

async function submitTo(
  parts: SubmissionParts,
  endpoint: Endpoint,
  payload: string,
  txid: string,
): Promise<Verdict | { readonly kind: 'accepted' }> {
  const { network } = parts;
  const answer = await tryAsk(network, endpoint, call('eth_sendRawTransaction', payload)).catch(asDoubt(network.slug));
  if (answer.ok) {
    if (String(answer.result).toLowerCase() !== txid)
      throw new MalformedReply('the node names another hash', String(answer.result));
    return { kind: 'accepted' };
  }
  if (/transaction type not (supported|valid)/i.test(answer.error.message)) parts.onTypesRefused();
  const verdict = explainRejection(answer.error),
    minimum = verdict.kind === 'rejected' ? minimumPriceOf(answer.error) : null;
  if (minimum !== null) parts.onMinimumPrice(minimum);
  // one that is behind is no judge of balances and prices
  if (verdict.kind === 'rejected') await parts.heads.headOf(endpoint);
  return verdict;
}

/** X1: one text for two shortages; the balance decides which it is. */
async function refusalOf(
  parts: SubmissionParts,
  payload: string,
  { code, action, reason }: Rejected,
): Promise<Refusal> {
  const details = { reason, action };
  if (action !== 'fund' || code !== 'INSUFFICIENT_GAS') return refuse(code, details);
  const signed = decodeSigned(payload);
  if (!signed.ok || signed.transaction.value === 0n) return refuse('INSUFFICIENT_GAS', details);
  const balance = await balanceAt(parts, signed.from);
  const covered = balance !== null && balance >= signed.transaction.value;
  return refuse(covered ? 'INSUFFICIENT_GAS' : 'INSUFFICIENT_FUNDS', {
    ...details,
    required: signed.transaction.value.toString(),
    ...(balance === null ? {} : { balance: balance.toString() }),
  });
}

async function balanceAt({ network, transport }: SubmissionParts, address: string): Promise<bigint | null> {
  try {
    return await transport.attempt(async (endpoint) =>
      bigintOf(await ask(network, endpoint, call('eth_getBalance', address, 'latest')), 'balance'),
    );
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

type Included = Outcome & { height: number; hash: string };

/**
 * What a transaction did as an endpoint that is not behind says it now; null when it is not in the chain. A receipt of
 * a block that this endpoint has replaced is none. Throws: ChainUnavailable.
 */
export async function readOutcome(
  network: EvmNetwork,
  heads: Heads,
  endpoint: Endpoint,
  txid: string,
): Promise<Included | null> {
  const [latest, answer] = await askAll(network, endpoint, [LATEST, call('eth_getTransactionReceipt', txid)]);
  heads.accept(endpoint, latest);
  if (answer === null) return null;
  const receipt = parseReceipt(answer),
    height = countOf(receipt.blockNumber, 'receipt block');
  if (receipt.transactionHash.toLowerCase() !== txid) {
    throw new MalformedReply('receipt of another transaction', receipt.transactionHash);
  }
  const asked = call('eth_getBlockByNumber', atHeight(height), false);
  const header = parseHeader(network, await ask(network, endpoint, asked));
  if (header.hash !== receipt.blockHash) throw new ChainUnavailable(network.slug, 'the receipt is of a replaced block');
  const price = receipt.effectiveGasPrice === undefined ? await gasPriceOf(network, endpoint, txid) : undefined;
  return { ...outcomeOf(receipt, price), height, hash: receipt.blockHash.toLowerCase() };
}

/** What a transaction in a block paid per gas, for nodes whose receipts do not say it; undefined where nothing does. */
async function gasPriceOf(network: EvmNetwork, endpoint: Endpoint, txid: string): Promise<string | undefined> {
  const answer = (await ask(network, endpoint, call('eth_getTransactionByHash', txid))) as {
    gasPrice?: unknown;
  } | null;
  return typeof answer?.gasPrice === 'string' ? answer.gasPrice : undefined;
}

/** Height, as the node writes it, of the block that it says holds a transaction; null where it names none. */
function blockOf(found: unknown): unknown {
  return (found as { blockNumber?: unknown } | null)?.blockNumber ?? null;
}

/** Included, pending, unknown or, with proof, dead. G27. Throws: ChainUnavailable. */
export async function readFate(parts: DeathParts, unsigned: Unsigned, txid: string): Promise<Fate> {
  const { network, heads, endpoint } = parts;
  const outcome = await readOutcome(network, heads, endpoint, txid);
  if (outcome !== null) {
    const { height, hash, ...rest } = outcome;
    return { kind: 'included', height, hash, outcome: rest };
  }
  if (unsigned.replayKey.kind !== 'nonce') throw new Error('an EVM transaction without a nonce');
  const {
    from,
    replayKey: { value: nonce },
  } = unsigned;
  const [found, counted] = await askAll(network, endpoint, [
    call('eth_getTransactionByHash', txid),
    call('eth_getTransactionCount', from, 'latest'),
  ]);
  // A node that prunes receipts may keep the transaction: what it says is in a block is not dead.
  if (blockOf(found) !== null)
    return { kind: 'unknown', reason: 'the node has the transaction in a block, and no receipt of it' };
  if (countOf(counted, 'nonce') > nonce) {
    return proveDeath(parts, unsigned, nonce, txid);
  }
  if (found !== null) return { kind: 'pending' };
  return { kind: 'unknown', reason: 'the nonce is free and the node does not know the transaction' };
}
