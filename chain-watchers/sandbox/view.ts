/** What a simulated ledger holds for a sender: at its head, and after transactions that are in no block yet. */
import type { SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import type { ReadPayload, SenderView } from './family.ts';
import { headOf, type LedgerParts } from './ledger.ts';

/** Whose holdings, of what beside the native coin, and who is paid. */
export type Asked = Pick<ReadPayload, 'from' | 'tokenContract' | 'to' | 'feePayer'>;

/** The holdings of a sender at the head, with those of a token where one is moved, and of the payee. */
export async function viewOf(parts: LedgerParts, { from, tokenContract, to, feePayer }: Asked): Promise<SenderView> {
  const { ledger, family, store } = parts;
  const { height, hash } = await headOf(parts);
  return {
    height,
    hash,
    timeMs: parts.nowMs(),
    nonce: await store.nonce(ledger, from),
    nativeBalance: await store.balance(ledger, from, null),
    tokenBalance: tokenContract === null ? null : await store.balance(ledger, from, tokenContract),
    ...(family.keepsOutputs === true || family.keepsLines === true
      ? { history: await store.transactionsOf(ledger, from) }
      : {}),
    ...(to === undefined ? {} : { destinationBalance: await store.balance(ledger, to, null) }),
    ...(to === undefined || tokenContract === null || family.keepsLines !== true
      ? {}
      : { payeeHistory: await store.transactionsOf(ledger, to) }),
    ...(feePayer === undefined ? {} : { payerBalance: await store.balance(ledger, feePayer, null) }),
  };
}

/** The view once a transaction is in the next block. */
export function after(asked: Asked, view: SenderView, done: SandboxTransaction): SenderView {
  const { from, tokenContract, to, feePayer } = asked,
    isOwn = done.from === from;
  const moved = done.success ? done.transfers : [];
  const change = (address: string, token: string | null): bigint =>
    moved.reduce(
      (sum, transfer) => {
        if (transfer.tokenContract !== token) return sum;
        const amount = BigInt(transfer.amount);
        return sum + (transfer.to === address ? amount : 0n) - (done.from === address ? amount : 0n);
      },
      token === null && (done.feePayer ?? done.from) === address ? -BigInt(done.fee) : 0n,
    );
  const isHistory = isOwn || moved.some((transfer) => transfer.to === from);
  return {
    ...view,
    nativeBalance: view.nativeBalance + change(from, null),
    nonce: isOwn && done.nonce !== null ? done.nonce + 1 : view.nonce,
    tokenBalance: tokenContract === null ? null : (view.tokenBalance ?? 0n) + change(from, tokenContract),
    ...(view.history === undefined || !isHistory
      ? {}
      : { history: [...view.history, { height: view.height + 1, transaction: done }] }),
    ...(feePayer === undefined ? {} : { payerBalance: (view.payerBalance ?? 0n) + change(feePayer, null) }),
    ...(to === undefined ? {} : { destinationBalance: (view.destinationBalance ?? 0n) + change(to, null) }),
  };
}
