/**
 * Passes application paths on to the cloud. Every answer is read by its route's schema and held to what the edge knows.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { ERRORS, isRefusal, refuse, statusOf, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import { answerBytesMax } from '../answers/answer-size.ts';
import { cloudRefusal } from '../answers/cloud-refusal.ts';
import { checkedAnswer, withheldKind, type Checked } from '../answers/checked.ts';
import type { Ask, Known } from '../answers/known.ts';
import type { EdgeLog } from '../process/log.ts';
import type { ForwardedAnswer, Upstream } from '../link/upstream.ts';
import {
  envelopeOf,
  jsonOf,
  queryOf,
  refused,
  withRefusal,
  type EdgeAnswer,
  type EdgeCall,
  type EdgePath,
  type PlainEnvelope,
} from './exchange.ts';

const LARGE_BYTES = 128 * 1_024;

export interface ForwardSettings {
  readonly upstream: Pick<Upstream, 'forward'>;
  readonly known: Known;
  /** Null when the registration is confirmed. */
  readonly unsynced: () => ErrorCode | 'starting' | null;
  /** A refusal that says something about the registration. */
  readonly onRefused: (code: string) => void;
  readonly log: EdgeLog;
}

/** The cloud's answer, read once. */
export interface Passed {
  readonly answer: ForwardedAnswer;
  readonly envelope: PlainEnvelope;
  /** The refusal as it may be handed on; null for a success. */
  readonly refusal: Refusal | null;
}

export interface Forwarding {
  /**
   * The cloud's answer, or why there is none. Refuses: UPSTREAM_UNAVAILABLE for one that is no envelope, or could be
   * read in two ways.
   */
  readonly pass: (call: EdgeCall) => Promise<Passed | EdgeAnswer>;
  /** Why nothing is passed on now; null when the registration is confirmed. Refuses: EDGE_NOT_SYNCED. */
  readonly unsynced: () => Refusal | null;
  /** An answer that came, read once. Refuses: UPSTREAM_UNAVAILABLE. */
  readonly read: (call: EdgeCall, answer: ForwardedAnswer) => Promise<Passed | EdgeAnswer>;
  /** Data of a successful answer against schema and rule of its route. Refuses: INTERNAL_ERROR. */
  readonly check: (call: EdgeCall, data: unknown) => Promise<Checked>;
  /** Any path of the cloud. */
  readonly forward: EdgePath;
}

/** True for the cloud's own answer, false for an answer that the edge gave in its place. */
export function isPassed(answer: Passed | EdgeAnswer): answer is Passed {
  return !('kind' in answer);
}

/** The cloud's refusal as it is handed on. */
export function handedOn({ answer, envelope, refusal }: Passed): Extract<EdgeAnswer, { kind: 'passed' }> {
  return refusal === null
    ? { kind: 'passed', answer }
    : {
        kind: 'passed',
        answer: withRefusal(answer, refusal, envelope.meta),
        code: envelope.error?.code ?? refusal.code,
        refusal,
      };
}

/** An answer with its data as they were read; nothing that was not looked at is in it. */
export function handedOnWith(
  { answer, envelope: { meta } }: Passed,
  { data, unsaid }: Pick<Checked, 'data' | 'unsaid'>,
): EdgeAnswer {
  const body = Buffer.from(JSON.stringify({ success: true, data, meta }));
  return { kind: 'passed', answer: { ...answer, body }, unsaid };
}

export function createForwarding(settings: ForwardSettings): Forwarding {
  const { upstream, known, log } = settings;

  const unsynced: Forwarding['unsynced'] = () => {
    const reason = settings.unsynced();
    return reason === null ? null : refuse('EDGE_NOT_SYNCED', { reason });
  };

  const pass: Forwarding['pass'] = async (call) => {
    const away = unsynced();
    if (away !== null) return refused(away);
    const answer = await upstream.forward({
      method: call.route.method,
      pathAndQuery: call.pathAndQuery,
      headers: call.headers,
      body: call.body,
      bytesMax: answerBytesMax(call.route.operationId, queryOf(call.pathAndQuery)),
    });
    return isRefusal(answer) ? refused(answer) : read(call, answer);
  };

  const read: Forwarding['read'] = async (call, answer) => {
    const envelope = envelopeOf(answer);
    if (envelope === null || !isOfStatus(envelope, answer.status, call.route)) {
      const facts = { requestId: call.requestId, route: call.route.path, status: answer.status };
      // A proxy on the way says that the cloud is away in its own words; nobody but the cloud says a success.
      if (answer.status >= 400) log.warn('answer_refused', facts);
      else log.alarm('answer_refused', facts);
      return refused(refuse('UPSTREAM_UNAVAILABLE', { reason: 'no_envelope', status: answer.status }));
    }
    if (envelope.error !== null) settings.onRefused(envelope.error.code);
    if (answer.body.length > LARGE_BYTES) await turn(); // to read it once was a turn's work
    const refusal = envelope.error === null ? null : cloudRefusal(envelope.error, knownTo(call, known));
    return { answer, envelope, refusal };
  };

  const check: Forwarding['check'] = async (call, data) => {
    const checked = await checkedAnswer(call.route.operationId, data, askOf(call), known);
    if (checked.refusal !== null) {
      const facts = {
        requestId: call.requestId,
        route: call.route.path,
        reason: String(checked.refusal.details['field']),
      };
      const kind = withheldKind(checked.refusal);
      if (kind === 'address_beyond_gap') log.warn(kind, { ...facts, setting: 'EDGE_ADDRESS_GAP' });
      else log.alarm(kind, facts);
    }
    if (checked.withheld.length > 0)
      log.alarm('answer_contradicts_issued', {
        requestId: call.requestId,
        route: call.route.path,
        reason: checked.withheld[0]!,
        count: checked.withheld.length,
      });
    if (checked.renamed.length > 0)
      log.alarm('symbol_differs', {
        requestId: call.requestId,
        route: call.route.path,
        reason: checked.renamed[0]!,
        count: checked.renamed.length,
      });
    for (const transactionId of checked.unsaid)
      log.alarm('signed_called_unsigned', { requestId: call.requestId, transactionId });
    return checked;
  };

  return {
    unsynced,
    pass,
    read,
    check,
    forward: async (call) => {
      const passed = await pass(call);
      if (!isPassed(passed)) return passed;
      if (passed.envelope.error !== null) return handedOn(passed);
      const checked = await check(call, passed.envelope.data);
      return checked.refusal === null ? handedOnWith(passed, checked) : refused(checked.refusal);
    },
  };
}

/** A success has the one status of its route; a refusal that of its code, where this edge knows the code. */
function isOfStatus(
  { error }: PlainEnvelope,
  status: number,
  route: { readonly status: number; readonly again?: number },
): boolean {
  if (error === null) return status === route.status || status === route.again;
  return status >= 400 && (!Object.hasOwn(ERRORS, error.code) || statusOf(error.code as ErrorCode) === status);
}

/** What the caller wrote itself, and the txids that were signed here. */
function knownTo(
  { pathAndQuery, body, headers, params }: EdgeCall,
  { instructions }: Known,
): (text: string) => boolean {
  const texts = [pathAndQuery, ...Object.values(params), ...Object.values(headers), body.toString('utf8')].map((text) =>
    text.toLowerCase(),
  );
  const txids = (params['id'] === undefined ? [] : instructions.signaturesOf(params['id'])).flatMap(({ signed }) =>
    signed === null ? [] : [signed.txid.toLowerCase()],
  );
  return (text) => [...texts, ...txids].some((one) => one.includes(text.toLowerCase()));
}

function askOf({ params, pathAndQuery, body }: EdgeCall): Ask {
  const sent = jsonOf(body),
    query = queryOf(pathAndQuery);
  return {
    params,
    body: typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? (sent as Record<string, unknown>) : {},
    query: Object.fromEntries(
      Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  };
}
