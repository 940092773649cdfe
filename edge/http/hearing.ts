/**
 * What an application hears by way of this edge, noted for the guard of payments: a denial before it is answered, in whatever answer it
 * stands, and the one word that frees an equal payment after the answer was written to a caller that was there to read it.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { PaymentGuard } from '../signing/payment-guard.ts';
import { deniedInAnswer, isConfirmed, NOTHING_DENIED } from '../link/reported.ts';
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
      const isKept = await guard.noteDenied(deniedInAnswer(saidIn(answer)))
        && (!isGone(call, answer) || await guard.noteDenied({ ...NOTHING_DENIED, reverted: [call.params['id']!] }));
      return isKept ? null : refuse('SERVICE_UNAVAILABLE', { reason: 'word_not_kept' });
    },
    async after(call, answer) {
      if (call.route.operationId !== 'getTransaction' || answer.kind !== 'passed' || answer.answer.status !== 200) return;
      // Written anew from what schema and rule let through.
      const { data } = jsonOf(answer.answer.body) as { data: ReplyOf<'getTransaction'> };
      if (isConfirmed(data) && data.id === call.params['id']) await guard.noteConfirmed(data.id);
    },
  };
}

function saidIn(answer: EdgeAnswer): unknown {
  switch (answer.kind) {
    case 'answered': return answer.data;
    case 'refused': return answer.refusal.details;
    case 'passed': return answer.answer.body.includes('txn_') || answer.answer.body.includes('"txid"') ? jsonOf(answer.answer.body) : null;
    case 'bare': return null;
  }
}

/** "There is no such transaction" says that it was not paid. */
function isGone({ route: { operationId } }: EdgeCall, answer: EdgeAnswer): boolean {
  if (operationId !== 'getTransaction' && operationId !== 'broadcastTransaction') return false;
  if (answer.kind === 'refused') return isRefusal(answer.refusal) && answer.refusal.code === 'NOT_FOUND';
  return answer.kind === 'passed' && answer.answer.status === 404;
}
