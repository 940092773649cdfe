/**
 * Questions to a Horizon server: HTTP paths, pages of records, and "no" as problem+json. A 404 is an answer, every
 * other error leaves the question open. Source: developers.stellar.org, Horizon "Errors", "Pagination".
 */
import { z } from 'zod';
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type HttpReply } from '../chain.ts';
import { safeText } from '../json-rpc.ts';
import { objectIn, textIn, type Answer } from '../node-answer.ts';
import { recordsIn } from './records.ts';

/** Records of a page. chains.md 9.2. */
const PAGE_RECORDS = 200;
/** Pages of one list. Choice: ten times what a full ledger has. */
const PAGES_MAX = 200;

export interface Problem {
  readonly status: number;
  /** Last part of the problem's type, e.g. `transaction_failed`. */
  readonly kind: string;
  readonly title: string;
  readonly extras: Answer;
}

export type HorizonAnswer =
  { readonly ok: true; readonly value: Answer } | { readonly ok: false; readonly problem: Problem };

const problemReply = z.object({
  type: z.string().optional(),
  title: z.string().optional(),
  extras: z.record(z.string(), z.unknown()).nullish(),
});

/** One answer, the server's "no" as a value. Throws: ChainUnavailable, MalformedReply. */
export async function tryAskHorizon(
  endpoint: Endpoint,
  call: Parameters<Endpoint['request']>[0],
): Promise<HorizonAnswer> {
  const reply = await endpoint.request(call);
  const value = valueOf(reply);
  if (reply.status < 400) return { ok: true, value: objectIn(value, 'answer of Horizon') };
  const parsed = problemReply.safeParse(value);
  const { type = '', title = '', extras } = parsed.success ? parsed.data : {};
  const kind = type.split('/').at(-1) ?? '';
  return { ok: false, problem: { status: reply.status, kind, title: safeText(title), extras: extras ?? {} } };
}

function valueOf({ status, text }: HttpReply): unknown {
  try {
    return parseLossless(text);
  } catch (cause) {
    if (status >= 400) return {};
    if (text.trim() === '') throw new ChainUnavailable('xlm', 'empty answer');
    throw new MalformedReply('Horizon answers no JSON', text, { cause });
  }
}

/** The answer at a path; null for a 404. Throws: ChainUnavailable with the problem's name, MalformedReply. */
export async function askHorizon(endpoint: Endpoint, path: string): Promise<Answer | null> {
  const answer = await tryAskHorizon(endpoint, { method: 'GET', path });
  if (answer.ok) return answer.value;
  if (answer.problem.status === 404) return null;
  throw refusedByHorizon(path, answer.problem);
}

/** An error where an answer is needed: nothing is proven. */
export function refusedByHorizon(path: string, { status, kind, title }: Problem): ChainUnavailable {
  const what =
    path
      .split('?')[0]!
      .split('/')
      .filter((part) => /^[a-z_]+$/.test(part))
      .join(' ') || 'root';
  return new ChainUnavailable('xlm', `${what}: ${kind || `http ${status}`}${title === '' ? '' : ` (${title})`}`);
}

/**
 * All records of a list in their order. With `count` the list is read until it has that many; else until a page is not
 * full. Throws: ChainUnavailable when the list is not there or does not end, MalformedReply.
 */
export async function askHorizonList(
  endpoint: Endpoint,
  path: string,
  count: number | null = null,
): Promise<readonly Answer[]> {
  const records: Answer[] = [];
  let cursor = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    if (count !== null && records.length >= count) return records;
    const query = `order=asc&limit=${PAGE_RECORDS}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const answer = await askHorizon(endpoint, `${path}${path.includes('?') ? '&' : '?'}${query}`);
    if (answer === null) throw new ChainUnavailable('xlm', `nothing at ${path.split('?')[0]}`);
    const found = recordsIn(answer);
    records.push(...found);
    if (found.length === 0 || (count === null && found.length < PAGE_RECORDS)) return records;
    cursor = encodeURIComponent(textIn(found.at(-1)!['paging_token'], 'paging_token'));
  }
  throw new ChainUnavailable('xlm', `${path.split('?')[0]} does not end`);
}
