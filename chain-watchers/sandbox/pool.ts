/**
 * The pool of a stuck ledger (simulate-stuck). A broadcast waits there in no block; a version of the same payment takes
 * its place when it pays what a node of the family asks for; the lever or `simulate-confirmation` mines it. A version
 * that was replaced can still be mined by its txid, as by a miner that never saw the newer one: then the newer one is
 * gone.
 */
import type { BroadcastResult, Signed } from '../../chains/chain.ts';
import type { PooledTransaction, SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import type { ReadPayload } from './family.ts';
import { append, APPEND_TRIES, headOf, inTurn, type LedgerParts } from './ledger.ts';
import { readOn } from './reading.ts';
import { after, viewOf } from './view.ts';

/** Transactions of one block when the pool is let go. */
const RELEASED_PER_BLOCK = 64;

const isHeld = ({ replacedBy }: PooledTransaction): boolean => replacedBy === null;
const parentsOf = ({ spends = [] }: SandboxTransaction): Set<string> =>
  new Set(spends.map((output) => output.split(':')[0]!));

/**
 * Takes signed bytes into the pool as a node would. Null when the ledger is not stuck any more: then they are mined.
 */
export function submitToPool(
  parts: LedgerParts,
  signed: Signed,
  payload: ReadPayload,
): Promise<BroadcastResult | null> {
  return inTurn(parts, () => submitNow(parts, signed, payload));
}

async function submitNow(parts: LedgerParts, signed: Signed, payload: ReadPayload): Promise<BroadcastResult | null> {
  const { store, ledger, family } = parts,
    { txid } = signed;
  for (let tries = 0; tries < APPEND_TRIES; tries += 1) {
    if (!(await store.isStuck(ledger))) return null;
    const head = await headOf(parts);
    if ((await store.blockOf(ledger, txid)) !== null) return { kind: 'already_known', txid };
    const held = (await store.pooledOf(ledger, payload.from)).filter(isHeld);
    if (held.some((one) => one.txid === txid)) return { kind: 'already_known', txid };
    const replaced = excludedBy(payload, held);
    const gone = new Set([...replaced, ...standingOn(replaced, held)]);
    const result = await ranAfter(
      parts,
      payload,
      held.filter((one) => !gone.has(one) && comesBefore(one.transaction, payload)),
    );
    if (isRefusal(result)) return { kind: 'rejected_final', refusal: result };
    if ('unknown' in result) return { kind: 'unknown', reason: result.unknown };
    const bid = { payload: signed.payload, transaction: result };
    const no = replaced.length === 0 ? null : (family.displaces?.(bid, replaced) ?? null);
    if (isRefusal(no)) return { kind: 'rejected_final', refusal: no };
    if (no !== null) return { kind: 'unknown', reason: no.unknown };
    const one = { txid, from: payload.from, ...bid, sinceMs: parts.nowMs() };
    if (
      await store.takePooled(
        ledger,
        head,
        one,
        [...gone].map((old) => old.txid),
      )
    )
      return { kind: 'accepted', txid };
  }
  throw new Error(`ledger ${ledger} moved ${APPEND_TRIES} times under one submit`);
}

/** Mines a version that took the place of another, where the ledger is stuck until one does. False where it is not. */
export async function mineRepriced(parts: LedgerParts, from: string, txid: string): Promise<boolean> {
  const { store, ledger } = parts;
  if ((await store.stuckUntil(ledger))?.repriced !== true) return false;
  const versions = await store.pooledOf(ledger, from);
  const newer = versions.find((one) => one.txid === txid);
  if (newer === undefined || !versions.some(({ replacedBy }) => replacedBy === txid)) return false;
  return !isRefusal(await minePooled(parts, newer));
}

/** Versions in the pool that the payload excludes: its counter value, or one of its outputs. */
function excludedBy({ nonce, spends = [] }: ReadPayload, held: readonly PooledTransaction[]): PooledTransaction[] {
  return held.filter(
    ({ transaction }) =>
      (nonce !== null && transaction.nonce === nonce) ||
      (transaction.spends ?? []).some((output) => spends.includes(output)),
  );
}

/** What spends outputs of these, and of those in turn. */
function standingOn(these: readonly PooledTransaction[], held: readonly PooledTransaction[]): PooledTransaction[] {
  const txids = new Set(these.map(({ txid }) => txid));
  const found: PooledTransaction[] = [];
  for (const one of held) {
    // Oldest first: a child comes after its parent.
    if (txids.has(one.txid) || ![...parentsOf(one.transaction)].some((txid) => txids.has(txid))) continue;
    txids.add(one.txid);
    found.push(one);
  }
  return found;
}

const comesBefore = ({ nonce }: SandboxTransaction, payload: Pick<ReadPayload, 'nonce'>): boolean =>
  payload.nonce === null || nonce === null || nonce < payload.nonce;

async function ranAfter(
  parts: LedgerParts,
  payload: ReadPayload,
  before: readonly { readonly transaction: SandboxTransaction }[],
): Promise<ReturnType<ReadPayload['run']>> {
  const view = before.reduce(
    (seen, { transaction }) => after(payload, seen, transaction),
    await viewOf(parts, payload),
  );
  return payload.run(view);
}

/**
 * Mines one version that is or was in the pool, after its ancestors there. Refuses: NOT_FOUND, CONFLICT when no
 * block can hold it any more.
 */
export function minePooled(parts: LedgerParts, { txid, from }: PooledTransaction): Promise<SandboxBlock[] | Refusal> {
  const { store, ledger } = parts;
  return append<Refusal>(parts, async () => {
    const all = await store.pooledOf(ledger, from);
    const chosen = all.find((one) => one.txid === txid);
    if (chosen === undefined)
      return notFound('transaction of the simulated chain', txid, { field: 'txid', environment: 'sandbox' });
    const { transactions, refused } = await ranInTurn(parts, [...below(chosen, all.filter(isHeld)), chosen]);
    const reason = refused.get(txid);
    return reason === undefined ? [transactions] : refuse('CONFLICT', { field: 'txid', reason });
  });
}

/**
 * Mines a transaction of the same sender that excludes one of the pool, after what must be in a block before it; the
 * pooled one is gone with it. Refuses: CONFLICT where the family has none, or no block can hold it.
 */
export function mineRival(
  parts: LedgerParts,
  { txid, from }: PooledTransaction,
  seed: Uint8Array,
): Promise<SandboxBlock[] | Refusal> {
  const { store, ledger, family, network } = parts;
  return append<Refusal>(parts, async () => {
    const all = await store.pooledOf(ledger, from);
    const chosen = all.find((one) => one.txid === txid);
    if (chosen === undefined)
      return notFound('transaction of the simulated chain', txid, { field: 'txid', environment: 'sandbox' });
    const rival = family.rivalOf?.(network, chosen.transaction, seed);
    if (rival === undefined)
      return refuse('CONFLICT', {
        field: 'chain',
        reason: 'a transaction of this chain excludes no other',
        next: 'use eth, bsc, polygon, avax, base, btc, xrp or xlm',
      });
    const before = below(chosen, all.filter(isHeld));
    const { transactions, refused } = await ranInTurn(parts, before);
    const reason = before.map((one) => refused.get(one.txid)).find((why) => why !== undefined);
    if (reason !== undefined) return refuse('CONFLICT', { field: 'txid', reason });
    return [...(transactions.length === 0 ? [] : [transactions]), [rival]];
  });
}

/** What must be in a block before it: lower counter values of its sender, transactions whose outputs it spends. */
function below({ txid, transaction }: PooledTransaction, held: readonly PooledTransaction[]): PooledTransaction[] {
  if (transaction.nonce !== null) {
    return held.filter((one) => one.transaction.nonce !== null && one.transaction.nonce < transaction.nonce!);
  }
  const wanted = parentsOf(transaction);
  const found: PooledTransaction[] = [];
  for (const one of held.toReversed()) {
    if (one.txid === txid || !wanted.has(one.txid)) continue;
    for (const parent of parentsOf(one.transaction)) wanted.add(parent);
    found.unshift(one);
  }
  return found;
}

/** What pooled transactions do one after the other; `refused` says why some can be in no block. */
async function ranInTurn(
  parts: LedgerParts,
  pooled: readonly PooledTransaction[],
): Promise<{ transactions: SandboxTransaction[]; refused: Map<string, string> }> {
  const transactions: SandboxTransaction[] = [],
    refused = new Map<string, string>();
  for (const { txid, payload } of pooled) {
    const read = await readOn(parts, { chain: parts.network.slug, txid, payload });
    const ran = isRefusal(read)
      ? read
      : await ranAfter(
          parts,
          read,
          transactions.map((transaction) => ({ transaction })),
        );
    if (isRefusal(ran)) refused.set(txid, typeof ran.details['reason'] === 'string' ? ran.details['reason'] : ran.code);
    else if ('unknown' in ran) refused.set(txid, ran.unknown);
    else transactions.push(ran);
  }
  return { transactions, refused };
}

/** Mines all that is in the pool. What no block can hold any more is dropped. Answers the txids that were mined. */
export async function releasePool(parts: LedgerParts): Promise<string[]> {
  const { store, ledger } = parts;
  const mined: string[] = [];
  for (;;) {
    const dropped = new Set<string>();
    const blocks = await append<null>(parts, async () => {
      const held = await store.heldInPool(ledger, RELEASED_PER_BLOCK);
      if (held.length === 0) return null;
      const { transactions, refused } = await ranInTurn(parts, held);
      for (const txid of refused.keys()) dropped.add(txid);
      return transactions.length === 0 ? [] : [transactions];
    });
    if (blocks === null) return mined;
    mined.push(...blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => txid)));
    for (const txid of dropped) await store.dropPooled(ledger, txid);
  }
}
