/**
 * Proof that a transaction can never land (G27): its nonce was used, at finality depth, by another hash. The other
 * transaction is looked for and named; where the node no longer keeps the old state that the search needs, two
 * endpoints must agree that ours has no receipt although its nonce is used, and keep the receipts of all the time since
 * it was built.
 */
import { ChainUnavailable, type Endpoint, type Fate, type Transport, type Unsigned } from '../chain.ts';
import { parseBlock } from './block.ts';
import type { Heads } from './heads.ts';
import type { EvmNetwork } from './network.ts';
import { ask, askAll, atHeight, call, tryAsk } from './node.ts';
import { countOf } from './quantity.ts';

export interface DeathParts {
  readonly network: EvmNetwork;
  readonly transport: Transport;
  readonly heads: Heads;
  /** The endpoint that said that the nonce is used and that ours has no receipt. */
  readonly endpoint: Endpoint;
}

const unproven = (reason: string): Fate => ({ kind: 'unknown', reason });

/** `dead` with its proof, or `unknown` with what is missing. Throws: ChainUnavailable. */
export async function proveDeath(parts: DeathParts, unsigned: Unsigned, nonce: number, txid: string): Promise<Fate> {
  const { network, heads, endpoint } = parts;
  const head = countOf((await heads.headOf(endpoint)).number, 'head');
  const final = head - network.threshold;
  if (final < 0) return unproven('the chain is younger than its threshold');
  const used = await countAt(parts, unsigned.from, final);
  if (used === null) return unproven('the node does not keep the state at finality depth');
  if (used <= nonce) return unproven('the nonce is used, and not yet at finality depth');
  const user = await findUser(parts, unsigned, nonce, final);
  if (user === null) return excluded(parts, unsigned, nonce, txid, final);
  if (user.hash === txid) return unproven('the transaction is in a block and the node has no receipt of it');
  const depth = head - user.height + 1;
  return { kind: 'dead', proof: `nonce ${nonce} was used by ${user.hash} at height ${user.height}, ${depth} deep` };
}

/** Transactions of the sender up to a height; null where the node no longer has that state. */
async function countAt({ network, endpoint }: DeathParts, from: string, height: number): Promise<number | null> {
  const answer = await tryAsk(network, endpoint, call('eth_getTransactionCount', from, atHeight(height)));
  return answer.ok ? countOf(answer.result, 'nonce') : null;
}

/** The first block after which the nonce is used, by halving, and the sender's transaction in it; null if not found. */
async function findUser(
  parts: DeathParts,
  { from, readAtHeight }: Unsigned,
  nonce: number,
  final: number,
): Promise<{ hash: string; height: number } | null> {
  let low = Math.min(readAtHeight, final) - 1,
    high = final; // the nonce is free after `low` and used after `high`
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2),
      count = middle < 0 ? 0 : await countAt(parts, from, middle);
    if (count === null) return null;
    if (count > nonce) high = middle;
    else low = middle;
  }
  const asked = call('eth_getBlockByNumber', atHeight(high), true),
    sender = from.toLowerCase();
  const { transactions } = parseBlock(parts.network, await ask(parts.network, parts.endpoint, asked));
  const user = transactions.find((one) => one.from.toLowerCase() === sender && countOf(one.nonce, 'nonce') === nonce);
  return user === undefined ? null : { hash: user.hash.toLowerCase(), height: high };
}

/** Without the name of the other transaction: this endpoint and another one, if there is one, must exclude ours. */
async function excluded(
  parts: DeathParts,
  { readAtHeight }: Unsigned,
  nonce: number,
  txid: string,
  final: number,
): Promise<Fate> {
  const { network, transport, heads, endpoint } = parts;
  const second = transport.endpoints.find((one) => one !== endpoint) ?? endpoint;
  await heads.headOf(second);
  // Receipts go oldest first: a node that has those of the first block in which ours can be has those of all.
  for (const one of new Set([endpoint, second])) {
    if (!(await keepsReceipts(network, one, Math.max(0, Math.min(readAtHeight, final)))))
      return unproven('a node keeps no receipts of that time');
  }
  const [receipt, found] = await askAll(network, second, [
    call('eth_getTransactionReceipt', txid),
    call('eth_getTransactionByHash', txid),
  ]);
  if (receipt !== null) throw new ChainUnavailable(network.slug, 'two nodes disagree about a receipt');
  if ((found as { blockNumber?: unknown } | null)?.blockNumber != null)
    return unproven('a node has the transaction in a block');
  return { kind: 'dead', proof: `nonce ${nonce} is used at height ${final} and no node has a receipt of ${txid}` };
}

async function keepsReceipts(network: EvmNetwork, endpoint: Endpoint, height: number): Promise<boolean> {
  const receipts = await tryAsk(network, endpoint, call('eth_getBlockReceipts', atHeight(height)));
  return receipts.ok && Array.isArray(receipts.result);
}
