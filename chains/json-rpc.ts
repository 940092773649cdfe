/**
 * JSON-RPC 2.0 over an endpoint. An error of the node is a value that the family reads (X2: code first, then text);
 * no answer at all is a ChainUnavailable.
 */
import { z } from 'zod';
import { plainText } from '../protocol/plain-text.ts';
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type HttpReply } from './chain.ts';

export interface RpcError {
  readonly code: number;
  /** Without URLs, at most 300 characters. X2. */
  readonly message: string;
  readonly data?: unknown;
  /** It names no call, so that nobody can say that it is about this one: it refuses no transaction. */
  readonly unmatched?: true;
}

export type RpcAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: RpcError };

/** By position or by name; undefined for a method that takes none (Stellar's server refuses an empty list there). */
export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>> | undefined;

export interface RpcCall {
  readonly method: string;
  readonly params: RpcParams;
}

const envelope = z.object({
  id: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string().optional(), data: z.unknown().optional() }).nullish(),
});

/** How an answer's text becomes values; a family whose answers hold JSON numbers of money passes `parseLossless`. */
export type ParseText = (text: string) => unknown;

const MESSAGE_CHARACTERS_MAX = 300;
/** Of a longer text the rest is not looked at. */
const TEXT_CHARACTERS_READ = 10_000;

/** A node's text fit for `details.reason`: one line, no address of a provider, which may hold a key. X2. */
export function safeText(text: string): string {
  return plainText(
    text.slice(0, TEXT_CHARACTERS_READ).replace(/\b(?:https?|wss?):\/\/\S+/gi, '<url>'),
    MESSAGE_CHARACTERS_MAX,
  );
}

/**
 * Numbers of the calls of this process: an answer that was meant for an earlier question on the same connection carries
 * a number that is not this call's, and is no answer to it.
 */
let lastId = 0;
const nextId = (): number => (lastId += 1);

/** One call. Throws: ChainUnavailable, MalformedReply, also for an answer to another question. */
export async function callRpc(
  chain: Chain,
  endpoint: Endpoint,
  method: string,
  params: RpcParams,
  parse: ParseText = JSON.parse,
): Promise<RpcAnswer> {
  const id = nextId(),
    body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const reply = await endpoint.request({ method: 'POST', path: '', body });
  return answerOf(chain, reply.status, valueOf(chain, reply, parse), id);
}

/** A failed read of an answer as the doubt that it is: a broadcast may have reached the node all the same. */
export function asDoubt(chain: Chain): (error: unknown) => never {
  return (error) => {
    throw error instanceof MalformedReply ? new ChainUnavailable(chain, error.message) : error;
  };
}

/**
 * Calls that an endpoint takes in one request, as it showed: halved where it refuses a batch for its size, doubled
 * again after so many batches of that size were answered, since a plan or a node may change.
 */
interface BatchLimit {
  calls: number;
  answered: number;
}
const limits = new WeakMap<Endpoint, BatchLimit>();
const ANSWERED_BEFORE_DOUBLING = 100;
const BATCH_CALLS_MAX = 1_000;

/**
 * Several calls in one request, answered in their order; in several requests where the endpoint refuses so many, down
 * to single calls. Throws: ChainUnavailable, MalformedReply. Limit: the caller's.
 */
export async function callRpcBatch(
  chain: Chain,
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  parse: ParseText = JSON.parse,
): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  while (answers.length < calls.length) {
    const limit = limits.get(endpoint)?.calls ?? BATCH_CALLS_MAX;
    const part = calls.slice(answers.length, answers.length + limit);
    if (part.length === 1) {
      answers.push(await callRpc(chain, endpoint, part[0]!.method, part[0]!.params, parse));
      noteAnswered(endpoint, 1);
      continue;
    }
    const answered = await requestBatch(chain, endpoint, part, parse);
    if (answered === null) limits.set(endpoint, { calls: Math.floor(part.length / 2), answered: 0 });
    else {
      noteAnswered(endpoint, part.length);
      answers.push(...answered);
    }
  }
  return answers;
}

function noteAnswered(endpoint: Endpoint, calls: number): void {
  const limit = limits.get(endpoint);
  if (limit === undefined || calls < limit.calls || (limit.answered += 1) < ANSWERED_BEFORE_DOUBLING) return;
  if (limit.calls * 2 >= BATCH_CALLS_MAX) limits.delete(endpoint);
  else limits.set(endpoint, { calls: limit.calls * 2, answered: 0 });
}

/** The answers to one batch, or null where the endpoint refuses its size. Throws: ChainUnavailable, MalformedReply. */
async function requestBatch(
  chain: Chain,
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  parse: ParseText,
): Promise<RpcAnswer[] | null> {
  const numbered = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: nextId(), method, params }));
  const reply = await endpoint.request({ method: 'POST', path: '', body: JSON.stringify(numbered) });
  const value = valueOf(chain, reply, parse);
  if (!Array.isArray(value)) return answersOfOne(chain, reply, value, calls.length);
  const alone: unknown = value.length === 1 && calls.length > 1 ? value[0] : null;
  if (isObject(alone) && !isStated(alone['id']) && isStated(alone['error']))
    return answersOfOne(chain, reply, alone, calls.length);
  const byId = new Map(value.map((one: unknown) => [isObject(one) ? idOf(one['id']) : null, one]));
  if (byId.size !== value.length) throw new MalformedReply('batch with two answers to one call', reply.text);
  const answers = numbered.map(({ id, method }) => {
    const one = byId.get(id);
    if (one === undefined) throw new MalformedReply(`batch without an answer to ${method}`, reply.text);
    return answerOf(chain, reply.status, one, id);
  });
  return refusesSize(answers) ? null : answers;
}

/** Statuses that refuse the caller, or everything for now: fewer calls in a request change nothing. */
const SIZE_IS_NOT_IT = new Set([401, 402, 403, 404, 429, 500, 502, 503, 504]);
/** How providers say that a request holds too many calls. */
const BATCH_WORDS =
  /\bbatch|requests? limit|\bper (?:second|request)|too many (?:requests|calls)|too large|limit (?:reached|exceeded)/i;
/**
 * Codes of providers' limits: −32007 and −32005 stand for other things on some chains, where each answer says its own.
 */
const LIMIT_CODES = new Set([-32_005, -32_007, -32_014, -32_600]);

/** One answer to the whole batch: null where it may mean the size, else the same failure for each call. */
function answersOfOne(chain: Chain, reply: HttpReply, value: unknown, count: number): RpcAnswer[] | null {
  const single = answerOf(chain, reply.status, value, null);
  if (single.ok) throw new MalformedReply('batch answered by one result', reply.text);
  const { error } = single;
  if (SIZE_IS_NOT_IT.has(reply.status) && !/\bbatch/i.test(error.message))
    return Array.from({ length: count }, () => single);
  return null;
}

/** Whether calls of a batch were refused because there are so many: by words, or all with the same code of a limit. */
function refusesSize(answers: readonly RpcAnswer[]): boolean {
  const errors = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]));
  if (
    errors.some(
      ({ code, message }) => (LIMIT_CODES.has(code) || code === 429 || code === -32_000) && BATCH_WORDS.test(message),
    )
  )
    return true;
  const [first] = errors;
  return (
    first !== undefined &&
    errors.length === answers.length &&
    LIMIT_CODES.has(first.code) &&
    errors.every(({ code, message }) => code === first.code && message === first.message)
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isStated = (value: unknown): boolean => value !== undefined && value !== null;

/** A number as a node repeats it, some as text; null for anything else. */
function idOf(id: unknown): number | null {
  const text = typeof id === 'number' || typeof id === 'bigint' || typeof id === 'string' ? String(id) : '';
  return /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : null;
}

function valueOf(chain: Chain, reply: HttpReply, parse: ParseText): unknown {
  try {
    return parse(reply.text);
  } catch {
    if (reply.status >= 400) return { error: { code: reply.status, message: `http ${reply.status}` } };
    if (reply.text.trim() === '') throw new ChainUnavailable(chain, 'empty answer');
    throw new MalformedReply('the answer is no JSON', reply.text);
  }
}

/** `asked` is the call's number; null for an answer to a whole batch. */
function answerOf(chain: Chain, status: number, value: unknown, asked: number | null): RpcAnswer {
  const parsed = envelope.safeParse(value);
  const says = parsed.success && (parsed.data.error ?? parsed.data.result) !== undefined;
  if (status >= 400 && !says) return { ok: false, error: { code: status, message: `http ${status}` } };
  if (!parsed.success) {
    throw new MalformedReply('JSON-RPC envelope', JSON.stringify(value) ?? 'undefined');
  }
  const { id, result, error } = parsed.data;
  // An error may come without a number, from a gateway that did not read the call; a result never may.
  const isForeign = asked !== null && (isStated(id) ? idOf(id) !== asked : !isStated(error));
  if (isForeign) throw new MalformedReply('an answer to another question', JSON.stringify(value));
  if (error !== undefined && error !== null) {
    const { code, message = '' } = error;
    const isStatus = code >= 400 && code <= 599;
    const unmatched = asked !== null && !isStated(id) && !isStatus ? { unmatched: true as const } : {};
    return {
      ok: false,
      error: { code, message: safeText(message), ...('data' in error ? { data: error.data } : {}), ...unmatched },
    };
  }
  if (result === undefined) throw new ChainUnavailable(chain, 'an answer without result');
  return { ok: true, result };
}
