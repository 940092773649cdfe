/**
 * What an answer or a webhook event tells an application of withdrawals: the words that PaymentGuard keeps. Pure.
 *
 * Denials stand in the way of an equal payment, so that they are read out of everything that may reach an application,
 * in whatever place they stand. The one word that frees is read in one place only: the `data` of a successful `GET
 * /v1/transactions/{id}`, checked by schema and rule. What a webhook says frees nothing: an edge cannot know who
 * answered it.
 */
import type { ReplyOf } from '../../protocol/routes.ts';

export interface Denied {
  readonly failed: readonly string[];
  /** Called failed or gone in a way that leaves its counter used up, or says nothing of it. */
  readonly reverted: readonly string[];
  /** The same by the transaction ids of the chain. */
  readonly failedTxids: readonly string[];
  readonly revertedTxids: readonly string[];
}

export const NOTHING_DENIED: Denied = { failed: [], reverted: [], failedTxids: [], revertedTxids: [] };

const IDS = /txn_[a-z2-7]{26}/g;
/** From a part of a hash to a signature in base58; what is no transaction id is found nowhere. */
const TXID_CHARACTERS_MIN = 32,
  TXID_CHARACTERS_MAX = 128;
/** Statuses of a withdrawal that say that it will not land. */
export const GONE: ReadonlySet<unknown> = new Set(['failed', 'expired', 'replaced']);
/** Events that say of a withdrawal that it goes its way. */
const HARMLESS: ReadonlySet<unknown> = new Set([
  'withdrawal_broadcast',
  'deposit_detected',
  'deposit_confirmed',
  'address_activated',
]);

/** The denials in what an application is answered: the data of a success, or the whole of a refusal. */
export function deniedInAnswer(answer: unknown): Denied {
  const denied = {
    failed: [] as string[],
    reverted: [] as string[],
    failedTxids: [] as string[],
    revertedTxids: [] as string[],
  };
  for (const value of valuesIn(answer)) {
    if (typeof value !== 'object' || value === null) continue;
    const { id, txid, status, height, failure } = value as Record<string, unknown>;
    const isGone = GONE.has(status),
      isFailed = isGone && typeof height !== 'number';
    if (!isGone && (status !== 'confirmed' || failure == null)) continue;
    if (typeof id === 'string') (isFailed ? denied.failed : denied.reverted).push(...(id.match(IDS) ?? []));
    if (typeof txid === 'string') (isFailed ? denied.failedTxids : denied.revertedTxids).push(txid);
  }
  return denied;
}

/** The denials in a webhook event, whatever it is called: by id or by txid, wherever they stand. */
export function deniedInEvent(event: object): Denied {
  const { event: name, data } = event as { event?: unknown; data?: Record<string, unknown> | null };
  const said = deniedInAnswer(event);
  if (HARMLESS.has(name)) return said;
  const texts = [...valuesIn(event)].filter((value) => typeof value === 'string');
  const ids = [...new Set(texts.flatMap((text) => text.match(IDS) ?? []))];
  const txids = texts.filter(({ length }) => length >= TXID_CHARACTERS_MIN && length <= TXID_CHARACTERS_MAX);
  const { transactionId, height, failure } = data ?? {};
  if (name === 'withdrawal_confirmed' && failure == null && ids.length === 1 && transactionId === ids[0]) return said;
  const isFailed = name === 'withdrawal_failed' && typeof height !== 'number';
  return isFailed
    ? { ...said, failed: [...said.failed, ...ids], failedTxids: [...said.failedTxids, ...txids] }
    : { ...said, reverted: [...said.reverted, ...ids], revertedTxids: [...said.revertedTxids, ...txids] };
}

/** Whether the checked answer to `GET /v1/transactions/{id}` says of a withdrawal that it was paid. */
export function isConfirmed({
  direction,
  status,
  failure,
  txid,
}: Pick<ReplyOf<'getTransaction'>, 'direction' | 'status' | 'failure' | 'txid'>): boolean {
  return direction === 'out' && status === 'confirmed' && failure === null && txid !== null;
}

/** Every value of a JSON value, names of objects too. */
function* valuesIn(value: unknown): Generator<unknown> {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    yield next;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) waiting.push(name, inner);
  }
}
