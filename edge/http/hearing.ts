/**
 * What an application hears by way of this edge, noted for the guard of payments: a denial before it is answered, in
 * whatever answer it stands, and the one word that frees an equal payment after the answer was written to a caller that
 * was there to read it.
 */
import { refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { PaymentGuard } from '../signing/payment-guard.ts';
import { isFailureWord } from '../signing/submissions.ts';
import { deniedInAnswer, GONE, isConfirmed, NOTHING_DENIED } from '../link/reported.ts';
import { jsonOf, type EdgeAnswer, type EdgeCall } from './exchange.ts';

export interface Hearing {
  /** Before an answer is sent. Refuses: SERVICE_UNAVAILABLE for a denial that could not be kept. */
  before(call: EdgeCall, answer: EdgeAnswer): Promise<Refusal | null>;
  /** When the last byte of an answer has left to a caller that had not closed. Never rejects. */
  after(call: EdgeCall, answer: EdgeAnswer): Promise<void>;
}

export function createHearing(guard: Pick<PaymentGuard, 'noteDenied' | 'noteConfirmed'>): Hearing {
  return {
    async before(call, answer) {
      const isKept =
        (await guard.noteDenied(deniedInAnswer(saidIn(answer)))) &&
        (!isGone(call, answer) || (await guard.noteDenied({ ...NOTHING_DENIED, reverted: [call.params['id']!] })));
      return isKept ? null : refuse('SERVICE_UNAVAILABLE', { reason: 'word_not_kept' });
    },
    async after(call, answer) {
      if (call.route.operationId !== 'getTransaction' || answer.kind !== 'passed' || answer.answer.status !== 200)
        return;
      // Written anew from what schema and rule let through.
      const { data } = jsonOf(answer.answer.body) as { data: ReplyOf<'getTransaction'> };
      if (isConfirmed(data) && data.id === call.params['id']) await guard.noteConfirmed(data.id);
    },
  };
}

function saidIn(answer: EdgeAnswer): unknown {
  switch (answer.kind) {
    case 'answered':
      return answer.data;
    case 'refused':
      return answer.refusal.details;
    case 'passed':
      return answer.answer.body.includes('txn_') || answer.answer.body.includes('"txid"')
        ? jsonOf(answer.answer.body)
        : null;
    case 'bare':
      return null;
  }
}

/** What an application asks of one transaction by its id. */
const OF_ONE: ReadonlySet<string> = new Set(['getTransaction', 'repriceTransaction', 'broadcastTransaction']);

/**
 * "There is no such transaction", or "it was rejected", says of the one that was asked for that it was not paid,
 * without its id.
 */
function isGone({ route: { operationId } }: EdgeCall, answer: EdgeAnswer): boolean {
  if (!OF_ONE.has(operationId)) return false;
  const { code, details } = errorIn(answer) ?? { code: null, details: {} };
  if (code === null) return false;
  return (
    code === 'NOT_FOUND' ||
    code === 'CHAIN_REJECTED' ||
    (operationId === 'getTransaction' && isFailureWord(code)) ||
    GONE.has(details['status'])
  );
}

function errorIn(
  answer: EdgeAnswer,
): { readonly code: ErrorCode; readonly details: Readonly<Record<string, unknown>> } | null {
  if (answer.kind === 'refused') return answer.refusal;
  if (answer.kind !== 'passed' || answer.answer.status < 400) return null;
  // read as an envelope before
  return (jsonOf(answer.answer.body) as { error: { code: ErrorCode; details: Record<string, unknown> } }).error;
}
