/**
 * Questions to one server. It says "no" with HTTP 200 and `status: "error"` inside of the result (JSON-RPC) or beside
 * it (WebSocket); both shapes are read. Numbers keep their text (G4). Source: xrpl.org "Response Formatting", "Errors".
 */
import { z } from 'zod';
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type HttpReply, type Transport } from '../chain.ts';
import { safeText } from '../json-rpc.ts';
import { malformed, type Answer } from '../node-answer.ts';

/** The version whose answers separate a transaction from its hash and metadata. chains.md 8.2. */
export const API_VERSION = 2;

export interface NodeError {
  /** The server's stable word, e.g. `actNotFound`. */
  readonly token: string;
  /** For people, without addresses of servers. X2. */
  readonly message: string;
  /** Everything that the server said, e.g. the ledger that it looked into. */
  readonly answer: Answer;
}

export type NodeAnswer =
  { readonly ok: true; readonly result: Answer } | { readonly ok: false; readonly error: NodeError };

const record = z.record(z.string(), z.unknown());
/** A gateway's own error, as JSON-RPC 2.0 has it. */
const plainError = z.object({ code: z.union([z.number(), z.string()]).optional(), message: z.string().optional() });
const envelope = z.object({
  status: z.string().optional(),
  error: z.union([z.string(), plainError]).optional(),
  result: record.optional(),
});

/** Words of a server that serves nobody for the moment; the same question may be asked elsewhere. chains.md 8.2. */
const BUSY = new Set([
  'tooBusy',
  'slowDown',
  'noNetwork',
  'noCurrent',
  'noClosed',
  'notReady',
  'notSynced',
  'amendmentBlocked',
  'failedToForward',
]);

/** True for the words by which a server says that it is no judge now. */
export function isBusy({ token }: Pick<NodeError, 'token'>): boolean {
  return BUSY.has(token);
}

/** One answer, the server's errors as values. Throws: ChainUnavailable, MalformedReply. */
export async function tryAsk(
  transport: Transport,
  endpoint: Endpoint,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<NodeAnswer> {
  const body = JSON.stringify({ method, params: [{ ...params, api_version: API_VERSION }] });
  const answer = answerOf(await endpoint.request({ method: 'POST', path: '', body }));
  if (!answer.ok && isBusy(answer.error)) transport.report(endpoint, 'failed');
  return answer;
}

/** The result of a call. Throws: ChainUnavailable with the server's word, MalformedReply. */
export async function ask(
  transport: Transport,
  endpoint: Endpoint,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const answer = await tryAsk(transport, endpoint, method, params);
  if (answer.ok) return answer.result;
  throw refusedBy(method, answer.error);
}

/** An error where an answer is needed: nothing is proven. */
export function refusedBy(method: string, { token, message }: NodeError): ChainUnavailable {
  const text = message === '' || message === token ? token : `${token} (${message})`;
  return new ChainUnavailable('xrp', `${method}: ${text}`);
}

function answerOf(reply: HttpReply): NodeAnswer {
  const value = valueOf(reply);
  const parsed = envelope.safeParse(value);
  if (!parsed.success) throw new MalformedReply('answer of a server', reply.text);
  const { status, error, result } = parsed.data;
  if (error !== undefined) return { ok: false, error: errorOf(value as Answer, error) };
  if (result === undefined) {
    throw new ChainUnavailable('xrp', reply.status >= 400 ? `http ${reply.status}` : 'an answer without result');
  }
  const said = result['error'];
  if (typeof said === 'string') return { ok: false, error: errorOf(result, said) };
  if (result['status'] === 'error' || status === 'error') malformed('an error without a word', result);
  return { ok: true, result };
}

function errorOf(answer: Answer, error: string | z.infer<typeof plainError>): NodeError {
  if (typeof error !== 'string') {
    return { token: String(error.code ?? 'error'), message: safeText(error.message ?? ''), answer };
  }
  const text = answer['error_message'] ?? answer['error_exception'];
  return { token: error, message: typeof text === 'string' ? safeText(text) : '', answer };
}

/** A gateway before the server, or the server's rate limit, answers with plain text. */
function valueOf(reply: HttpReply): unknown {
  try {
    return parseLossless(reply.text);
  } catch {
    if (reply.status >= 400) {
      throw new ChainUnavailable('xrp', `http ${reply.status}: ${safeText(reply.text).slice(0, 80)}`);
    }
    if (reply.text.trim() === '') throw new ChainUnavailable('xrp', 'empty answer');
    throw new MalformedReply('the answer is no JSON', reply.text);
  }
}
