/**
 * What an answer or a webhook event reports to an application about withdrawals: the words that PaymentGuard keeps.
 * Pure.
 *
 * Denials are in the way of an equal payment, so that they are read out of everything that may reach an application,
 * in whatever place they are. The one word that frees is read in one place only: the `data` of a successful `GET
 * /v1/transactions/{id}`, checked by schema and rule. What a webhook says frees nothing: an edge cannot know who
 * answered it.
 */
import { EVENT_CATALOGUE } from '../../protocol/schema/events.ts';
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
const TXIDS = /[A-Za-z0-9]{32,128}/g;
/** Statuses of a withdrawal that say that it will not land. */
export const GONE: ReadonlySet<unknown> = new Set(['failed', 'expired', 'replaced']);
/** Statuses of signed bytes that are on their way, or landed. */
const ON_ITS_WAY: ReadonlySet<unknown> = new Set(['broadcast', 'confirming', 'confirmed']);
/** Events that say of a withdrawal that it goes its way, and of an address that something comes in. */
const OUTGOING: ReadonlySet<unknown> = new Set(['withdrawal_broadcast', 'withdrawal_confirmed']),
  INCOMING: ReadonlySet<unknown> = new Set(['deposit_detected', 'deposit_confirmed', 'address_activated']);
const WITHDRAWAL_NAMES: ReadonlySet<string> = new Set(Object.keys(EVENT_CATALOGUE.withdrawal_broadcast.example));

/** What the reader knows beside an answer or an event. */
export interface Reading {
  /** Whether this may be the txid of that withdrawal, as far as this edge knows. */
  readonly isTxidOf: (id: string, txid: string) => boolean;
  /** Whether the cloud can honestly have no signed bytes of it: they are being made, or submitted. */
  readonly mayBeUnsent?: (id: string) => boolean;
  /** A build that is answered again: it is unsigned in this answer, and says nothing of what was signed since. */
  readonly isBuild?: boolean;
}

const ANY_TXID: Reading = { isTxidOf: () => true };

/**
 * The denials in what an application is answered: the data of a success, or the whole of a refusal. A withdrawal that
 * has signed bytes is on its way with their txid, landed, or is being signed; any other word of it is a denial.
 */
export function deniedInAnswer(answer: unknown, reading: Reading = ANY_TXID): Denied {
  const denied = {
    failed: [] as string[],
    reverted: [] as string[],
    failedTxids: [] as string[],
    revertedTxids: [] as string[],
  };
  for (const value of valuesIn(answer)) {
    if (typeof value !== 'object' || value === null) continue;
    const { id, transactionId, txid, status, state, height, failure } = value as Record<string, unknown>;
    const ids = [id, transactionId].flatMap((one) => (typeof one === 'string' ? (one.match(IDS) ?? []) : []));
    const isGone = GONE.has(status) || GONE.has(state),
      isFailed = isGone && typeof height !== 'number';
    const isDenial = isGone || failure != null || ids.some((one) => isUnsaid(one, status, txid, reading));
    if (!isDenial) continue;
    (isFailed ? denied.failed : denied.reverted).push(...ids);
    if (typeof txid === 'string') (isFailed ? denied.failedTxids : denied.revertedTxids).push(txid);
  }
  return denied;
}

/** Called unsigned, or on its way without its txid or with another one. */
function isUnsaid(
  id: string,
  status: unknown,
  txid: unknown,
  { isTxidOf, mayBeUnsent, isBuild = false }: Reading,
): boolean {
  if (status === 'built') return !isBuild && mayBeUnsent?.(id) !== true;
  return ON_ITS_WAY.has(status) && (txid === null || (typeof txid === 'string' && !isTxidOf(id, txid)));
}

/** The withdrawals and txids that a refusal of the cloud names, wherever it does. */
export function namedIn(refusal: unknown): Denied {
  const texts = [...valuesIn(refusal)].filter((value) => typeof value === 'string');
  return {
    ...NOTHING_DENIED,
    reverted: [...new Set(texts.flatMap((text) => text.match(IDS) ?? []))],
    revertedTxids: [...new Set(texts.flatMap((text) => text.match(TXIDS) ?? []))],
  };
}

/** The denials in a webhook event, whatever it is called: by id or by txid, wherever they are. */
export function deniedInEvent(event: object, reading: Reading = ANY_TXID): Denied {
  const { event: name, data } = event as { event?: unknown; data?: Record<string, unknown> | null };
  const said = deniedInAnswer(event, reading);
  const texts = [...valuesIn(event)].filter((value) => typeof value === 'string');
  const ids = [...new Set(texts.flatMap((text) => text.match(IDS) ?? []))];
  const txids = texts.filter(({ length }) => length >= TXID_CHARACTERS_MIN && length <= TXID_CHARACTERS_MAX);
  const { transactionId, txid, height, failure } = data ?? {};
  if (INCOMING.has(name) && failure == null && ids.length === 0) return said;
  const isOnItsWay =
    OUTGOING.has(name) &&
    failure == null &&
    ids.length === 1 &&
    typeof transactionId === 'string' &&
    transactionId === ids[0] &&
    (typeof txid !== 'string' || reading.isTxidOf(transactionId, txid)) &&
    Object.keys(data ?? {}).every((one) => WITHDRAWAL_NAMES.has(one));
  if (isOnItsWay) return said;
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
