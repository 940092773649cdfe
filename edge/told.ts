/** What an answer or a webhook event tells an application of withdrawals: the words that PaymentGuard keeps. Pure. */

export interface Told {
  readonly confirmed: readonly string[];
  readonly failed: readonly string[];
  /** Called failed or gone in a way that leaves its counter used up, or says nothing of it. */
  readonly reverted: readonly string[];
  /** Transactions of the chain that are said to have left it. */
  readonly reversedTxids: readonly string[];
}

export const NOTHING_TOLD: Told = { confirmed: [], failed: [], reverted: [], reversedTxids: [] };

const ID = /^txn_[a-z2-7]{26}$/;
const GONE: ReadonlySet<unknown> = new Set(['failed', 'expired', 'replaced']);
/** Values of one answer that are looked at; more than any page holds. */
const VALUES_MAX = 200_000;
/** Events that say of a withdrawal that it goes its way. */
const HARMLESS: ReadonlySet<unknown> = new Set(['withdrawal_broadcast', 'deposit_detected', 'deposit_confirmed', 'address_activated']);

/** The words in a body of the cloud; nothing for one that names no withdrawal. */
export function toldInAnswer(body: Buffer): Told {
  if (!body.includes('txn_')) return NOTHING_TOLD;
  const told = { confirmed: [] as string[], failed: [] as string[], reverted: [] as string[], reversedTxids: [] };
  const waiting: unknown[] = [parsed(body.toString('utf8'))];
  for (let seen = 0; waiting.length > 0 && seen <= VALUES_MAX; seen += 1) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const { id, status, height, failure } = value as Record<string, unknown>;
    if (typeof id === 'string' && ID.test(id)) {
      if (GONE.has(status)) (typeof height === 'number' ? told.reverted : told.failed).push(id);
      if (status === 'confirmed') (failure == null ? told.confirmed : told.reverted).push(id);
    }
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return told;
}

/** The words of a webhook event. */
export function toldInEvent(body: string): Told {
  const event = parsed(body) as { event?: unknown; data?: Record<string, unknown> | null } | null;
  if (typeof event !== 'object' || event === null || HARMLESS.has(event.event)) return NOTHING_TOLD;
  const { transactionId, txid, height, failure } = event.data ?? {};
  const named = [...new Set(body.match(/txn_[a-z2-7]{26}/g) ?? [])];
  if (event.event === 'withdrawal_confirmed' && failure == null && named.length === 1 && transactionId === named[0]) return { ...NOTHING_TOLD, confirmed: named };
  if (event.event === 'withdrawal_failed' && typeof height !== 'number') return { ...NOTHING_TOLD, failed: named };
  return { ...NOTHING_TOLD, reverted: named, reversedTxids: typeof txid === 'string' ? [txid] : [] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
