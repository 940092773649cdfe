/** Passes application paths on to the cloud. Every address in an answer is checked before it is handed on. */
import { isRefusal, refuse, type ErrorCode } from '../../protocol/errors.ts';
import { checkAddresses, checkIssued, checkNamed } from '../address-check.ts';
import type { EdgeLog } from '../log.ts';
import type { OwnAddresses } from '../own-addresses.ts';
import type { ForwardedAnswer, Upstream } from '../upstream.ts';
import { dataOf, isPlainEnvelope, jsonOf, refused, type EdgeAnswer, type EdgeCall, type EdgePath } from './exchange.ts';

export interface ForwardSettings {
  readonly upstream: Upstream;
  readonly own: OwnAddresses;
  /** Null when the registration is confirmed. */
  readonly unsynced: () => ErrorCode | 'starting' | null;
  /** A refusal that tells something about the registration. */
  readonly onRefused: (code: string) => void;
  readonly log: EdgeLog;
}

export interface Forwarding {
  /** The cloud's answer, or why there is none. Refuses: UPSTREAM_UNAVAILABLE for one that is no envelope, or could be read in two ways. */
  readonly pass: (call: EdgeCall) => Promise<ForwardedAnswer | EdgeAnswer>;
  /** Any path whose answer needs no check of its own. */
  readonly forward: EdgePath;
  /** A path that answers with one issued address. */
  readonly forwardIssued: EdgePath;
  /** As `forward`; the answer is one address, which must have its path. */
  readonly forwardNamed: EdgePath;
}

/** True for the cloud's own answer, false for an answer that the edge gave in its place. */
export function isPassed(answer: ForwardedAnswer | EdgeAnswer): answer is ForwardedAnswer {
  return !('kind' in answer);
}

export function createForwarding(settings: ForwardSettings): Forwarding {
  const { upstream, own, log } = settings;

  const pass: Forwarding['pass'] = async (call) => {
    const unsynced = settings.unsynced();
    if (unsynced !== null) return refused(refuse('EDGE_NOT_SYNCED', { reason: unsynced }));
    const answer = await upstream.forward({
      method: call.route.method, pathAndQuery: call.pathAndQuery, headers: call.headers, body: call.body,
    });
    if (isRefusal(answer)) return refused(answer);
    if (!isPlainEnvelope(answer)) {
      const facts = { requestId: call.requestId, route: call.route.path, status: answer.status };
      // A proxy on the way says that the cloud is away in its own words; nobody but the cloud says a success.
      if (answer.status >= 400) log.warn('answer_refused', facts);
      else log.alarm('answer_refused', facts);
      return refused(refuse('UPSTREAM_UNAVAILABLE', { reason: 'no_envelope', status: answer.status }));
    }
    if (answer.status >= 400) {
      const code = (jsonOf(answer.body) as { error?: { code?: unknown } } | undefined)?.error?.code;
      if (typeof code === 'string') settings.onRefused(code);
    }
    return answer;
  };

  const checked = async (call: EdgeCall, check: (data: unknown) => ReturnType<typeof checkAddresses>): Promise<EdgeAnswer> => {
    const answer = await pass(call);
    if (!isPassed(answer)) return answer;
    const data = dataOf(answer);
    const refusal = data === undefined ? null : check(data);
    if (refusal === null) return { kind: 'passed', answer };
    log.alarm('address_refused', { requestId: call.requestId, route: call.route.path, reason: String(refusal.details['reason']) });
    return refused(refusal);
  };

  return {
    pass,
    forward: (call) => checked(call, (data) => checkAddresses(own, data)),
    forwardNamed: (call) => checked(call, (data) => checkNamed(own, data)),
    forwardIssued: (call) => checked(call, (data) =>
      checkIssued(own, data, (jsonOf(call.body) as { chain?: unknown } | null | undefined)?.chain)),
  };
}
