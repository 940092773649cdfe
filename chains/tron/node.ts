/**
 * Questions to one TRON node: `/wallet` answers from the newest block, `/walletsolidity` from the solidified one.
 * Numbers are read without loss, because the node writes money as JSON numbers (G4). An error of the node where an
 * answer is needed proves nothing: ChainUnavailable.
 */
import { z } from 'zod';
import { integerOf, parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type Network } from '../chain.ts';
import { safeText } from '../json-rpc.ts';

export type View = 'wallet' | 'walletsolidity';

export interface Question {
  readonly view: View;
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const wallet = (method: string, body: Question['body'] = {}): Question => ({ view: 'wallet', method, body });

/** `missing`: the node has no such path, or this caller may not use it. */
export type NodeAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly missing: boolean; readonly reason: string };

/**
 * Statuses of a path that is not served. TronGrid answers 403 to a caller whose rate it limits, which is not among
 * them.
 */
const MISSING = new Set([404, 405, 501]);

/**
 * One answer, the node's errors as values: java-tron answers HTTP 200 with `{"Error": "class … : …"}`.
 * Throws: ChainUnavailable, MalformedReply.
 */
export async function tryAsk(
  network: Network,
  endpoint: Endpoint,
  { view, method, body }: Question,
): Promise<NodeAnswer> {
  const { status, text } = await endpoint.request({
    method: 'POST',
    path: `/${view}/${method}`,
    body: JSON.stringify(body),
  });
  if (MISSING.has(status)) return { ok: false, missing: true, reason: `http ${status}` };
  let value: unknown;
  try {
    value = parseLossless(text);
  } catch {
    if (status >= 400) return { ok: false, missing: false, reason: `http ${status}` };
    if (text.trim() === '') throw new ChainUnavailable(network.slug, `${method}: empty answer`);
    throw new MalformedReply(`${method}: the answer is no JSON`, text);
  }
  const error = (value as { Error?: unknown } | null)?.Error;
  if (typeof error === 'string') return { ok: false, missing: false, reason: safeText(error) };
  return status >= 400 ? { ok: false, missing: false, reason: `http ${status}` } : { ok: true, value };
}

/** One answer. Throws: ChainUnavailable with the node's text, MalformedReply. */
export async function ask(network: Network, endpoint: Endpoint, question: Question): Promise<unknown> {
  const answer = await tryAsk(network, endpoint, question);
  if (answer.ok) return answer.value;
  throw new ChainUnavailable(network.slug, `${question.method}: ${answer.reason}`);
}

/** True for `{}`, which is "not found" on some paths and "unknown" on all others (G8). */
export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** A reply of the shape that the node promises. Throws: MalformedReply. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new MalformedReply(
    `${what}: ${z.prettifyError(result.error).slice(0, 300)}`,
    JSON.stringify(value) ?? 'undefined',
  );
}

/** A whole number of a reply; proto3 leaves out the default, so an absent one is 0 inside an object that is there. */
export const integer = z
  .unknown()
  .optional()
  .transform((value, context): bigint => {
    const read = value === undefined ? 0n : integerOf(value);
    if (read !== null) return read;
    context.addIssue({ code: 'custom', message: 'expected an integer' });
    return z.NEVER;
  });
