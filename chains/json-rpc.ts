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
}

export type RpcAnswer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: RpcError };

/** By position or by name; undefined for a method that takes none (Stellar's server refuses an empty list there). */
export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>> | undefined;

export interface RpcCall { readonly method: string; readonly params: RpcParams }

const envelope = z.object({
  id: z.union([z.number(), z.string()]).nullish(),
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
  return plainText(text.slice(0, TEXT_CHARACTERS_READ).replace(/\b(?:https?|wss?):\/\/\S+/gi, '<url>'), MESSAGE_CHARACTERS_MAX);
}

/** One call. Throws: ChainUnavailable, MalformedReply. */
export async function callRpc(
  chain: Chain, endpoint: Endpoint, method: string, params: RpcParams, parse: ParseText = JSON.parse,
): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const reply = await endpoint.request({ method: 'POST', path: '', body });
  return answerOf(chain, reply.status, valueOf(chain, reply, parse));
}

/**
 * Several calls in one request, answered in their order. Throws: ChainUnavailable, MalformedReply. Limit: the
 * caller's.
 */
export async function callRpcBatch(
  chain: Chain, endpoint: Endpoint, calls: readonly RpcCall[], parse: ParseText = JSON.parse,
): Promise<RpcAnswer[]> {
  if (calls.length === 0) return [];
  const body = JSON.stringify(calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: i + 1, method, params })));
  const reply = await endpoint.request({ method: 'POST', path: '', body });
  const value = valueOf(chain, reply, parse);
  if (!Array.isArray(value)) {
    // A node without batches answers one error for all; then the calls go one by one.
    const single = answerOf(chain, reply.status, value);
    if (single.ok) throw new MalformedReply('batch answered by one result', reply.text);
    const answers: RpcAnswer[] = [];
    for (const { method, params } of calls) answers.push(await callRpc(chain, endpoint, method, params, parse));
    return answers;
  }
  const byId = new Map(value.map((one: unknown) => [Number((one as { id?: unknown } | null)?.id), one]));
  return calls.map(({ method }, i) => {
    const one = byId.get(i + 1);
    if (one === undefined) throw new MalformedReply(`batch without an answer to ${method}`, reply.text);
    return answerOf(chain, reply.status, one);
  });
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

function answerOf(chain: Chain, status: number, value: unknown): RpcAnswer {
  const parsed = envelope.safeParse(value);
  const says = parsed.success && (parsed.data.error ?? parsed.data.result) !== undefined;
  if (status >= 400 && !says) return { ok: false, error: { code: status, message: `http ${status}` } };
  if (!parsed.success) {
    throw new MalformedReply('JSON-RPC envelope', JSON.stringify(value) ?? 'undefined');
  }
  const { result, error } = parsed.data;
  if (error !== undefined && error !== null) {
    const { code, message = '' } = error;
    return { ok: false, error: { code, message: safeText(message), ...('data' in error ? { data: error.data } : {}) } };
  }
  if (result === undefined) throw new ChainUnavailable(chain, 'an answer without result');
  return { ok: true, result };
}
