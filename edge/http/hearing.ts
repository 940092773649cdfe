/**
 * What an application learns by way of this edge, noted for the guard of payments: a denial before it is answered, in
 * whatever answer it is, and the one word that frees an equal payment after the answer was written to a caller that
 * was there to read it.
 */
import { refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { SAYS_NOTHING, UNKNOWN_CODE } from '../answers/cloud-refusal.ts';
import type { PaymentGuard } from '../signing/payment-guard.ts';
import { isFailureWord, refusalOfSigned } from '../signing/submissions.ts';
import { deniedInAnswer, GONE, isConfirmed, namedIn, NOTHING_DENIED, type Denied } from '../link/reported.ts';
import { jsonOf, withRefusal, type EdgeAnswer, type EdgeCall, type PlainEnvelope } from './exchange.ts';

export interface Hearing {
  /** The answer as it is sent: a refusal beside signed bytes says so, with their txids. */
  besideSigned(call: EdgeCall, answer: EdgeAnswer): EdgeAnswer;
  /** Before an answer is sent. Refuses: SERVICE_UNAVAILABLE for a denial that could not be kept. */
  before(call: EdgeCall, answer: EdgeAnswer): Promise<Refusal | null>;
  /** When the last byte of an answer has left to a caller that had not closed. Never rejects. */
  after(call: EdgeCall, answer: EdgeAnswer): Promise<void>;
}

export function createHearing(
  guard: Pick<PaymentGuard, 'noteDenied' | 'noteConfirmed' | 'isTxidOf' | 'txidsOf' | 'mayBeUnsent'>,
): Hearing {
  const isTxidOf = (id: string, txid: string) => guard.isTxidOf(id, txid),
    mayBeUnsent = (id: string) => guard.mayBeUnsent(id);

  const deniedBy = (call: EdgeCall, answer: EdgeAnswer): Denied[] => {
    const isBuild = BUILDS.has(call.route.operationId);
    const about = aboutOf(call, answer),
      isDenied = about !== null && isDenial(call, answer);
    const unsaid = 'unsaid' in answer ? (answer.unsaid ?? []) : [];
    return [
      deniedInAnswer(saidIn(answer), { isTxidOf, isBuild, mayBeUnsent }),
      { ...NOTHING_DENIED, reverted: unsaid },
      ...(answer.kind === 'passed' && answer.refusal !== undefined ? [namedIn(answer.refusal)] : []),
      ...(isDenied ? [{ ...NOTHING_DENIED, reverted: [about] }] : []),
    ];
  };

  return {
    besideSigned(call, answer) {
      const refusal = refusalIn(answer),
        about = aboutOf(call, answer);
      const txids = refusal === null || about === null ? [] : guard.txidsOf(about);
      if (refusal === null || txids.length === 0) return answer;
      const said = refusalOfSigned(refusal, txids);
      if (answer.kind !== 'passed') return { ...answer, kind: 'refused', refusal: said };
      const { meta } = jsonOf(answer.answer.body) as PlainEnvelope;
      return { ...answer, answer: withRefusal(answer.answer, said, meta) };
    },
    async before(call, answer) {
      for (const denied of deniedBy(call, answer))
        if (!(await guard.noteDenied(denied))) return refuse('SERVICE_UNAVAILABLE', { reason: 'word_not_kept' });
      return null;
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
    case 'streamed':
      return null;
  }
}

/** What an application asks of one transaction by its id. */
const OF_ONE: ReadonlySet<string> = new Set(['getTransaction', 'repriceTransaction', 'broadcastTransaction']);
/** Answered with a build, which is unsigned in it. */
const BUILDS: ReadonlySet<string> = new Set(['buildTransaction', 'createTrustline', 'repriceTransaction']);

/** The withdrawal that an answer concerns, by the path or by the key that built it; null for any other. */
function aboutOf({ route: { operationId }, params }: EdgeCall, answer: EdgeAnswer): string | null {
  if (OF_ONE.has(operationId)) return params['id'] ?? null;
  return 'about' in answer ? (answer.about ?? null) : null;
}

/**
 * Whether a refusal says of the withdrawal that it concerns anything but that nothing can be said now. Of the edge's
 * own, which name signed bytes and their txid, only those that repeat a failure of the cloud.
 */
function isDenial({ route: { operationId } }: EdgeCall, answer: EdgeAnswer): boolean {
  const refusal = refusalIn(answer);
  if (refusal === null) return false;
  const { code, details } = refusal;
  if (answer.kind === 'passed') return !SAYS_NOTHING.has(code) || details['reason'] === UNKNOWN_CODE;
  return (
    DENYING.has(code) ||
    details['reason'] === UNKNOWN_CODE ||
    (operationId === 'getTransaction' && isFailureWord(code)) ||
    GONE.has(details['status'])
  );
}

const DENYING: ReadonlySet<ErrorCode> = new Set(['NOT_FOUND', 'CHAIN_REJECTED']);

function refusalIn(answer: EdgeAnswer): Refusal | null {
  if (answer.kind === 'refused') return answer.refusal;
  return answer.kind === 'passed' ? (answer.refusal ?? null) : null;
}
