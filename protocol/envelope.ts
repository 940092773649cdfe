/** Spec §2.1: the envelope of every response. */
import { z } from 'zod';
import { CURSOR_CHARS_MAX, NO_CURSOR } from './cursor.ts';
import type { Refusal } from './errors.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from './page.ts';
import { between } from './schema/numbers.ts';

export interface Meta {
  requestId: string;
  timestamp: string;
}
export interface Success<T> {
  success: true;
  data: T;
  meta: Meta;
}
export interface Failure {
  success: false;
  data: null;
  error: { code: string; message: string; details: object };
  meta: Meta;
}
export type Envelope<T> = Success<T> | Failure;

export function succeed<T>(data: T, meta: Meta): Success<T> {
  return { success: true, data, meta };
}

export function fail(refusal: Refusal, meta: Meta): Failure {
  const { code, message, details } = refusal;
  return { success: false, data: null, error: { code, message, details }, meta };
}

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,9})$/, `expected a whole number of at most ${max}`)
    .transform(Number)
    .pipe(between(0, max))
    .meta({ type: 'integer', minimum: 0, maximum: max });

/** Media types that a body may have: JSON in UTF-8. */
export const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;\s*charset=["']?utf-8["']?\s*)?$/i;

const page = wholeNumber(1_000_000);
const size = wholeNumber(PAGE_SIZE_MAX)
  .pipe(between(1, PAGE_SIZE_MAX))
  .meta({ type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX });
const after = z.string({ error: NO_CURSOR }).min(1, NO_CURSOR).max(CURSOR_CHARS_MAX, NO_CURSOR).meta({
  description:
    '`next` of the page before: goes on behind its last row, whatever changed meanwhile. Not together with `page`',
});
const BOTH = { path: ['after'], message: 'page and after exclude each other: send one of them' };
const one = (query: { page?: unknown; after?: unknown }): boolean =>
  query.page === undefined || query.after === undefined;

/** Query of a list, with its filters; numbers are decimal text on the wire. Without `page` and `after` it is page 0. */
export const listQuery = <S extends z.core.$ZodLooseShape>(filters: S) =>
  z
    .strictObject({
      page: page.exactOptional(),
      size: size.default(PAGE_SIZE_DEFAULT),
      after: after.exactOptional(),
      ...filters,
    })
    .refine(one, BOTH);
export const pageQuery = listQuery({});
/** Query of a list that is walked and has no numbers of pages. */
export const walkQuery = z.strictObject({ size: size.default(PAGE_SIZE_DEFAULT), after: after.exactOptional() });

const WHOLE = new WeakSet<object>();
/** Query of a list that is short: all of it, unless a page is asked for. */
export function wholeListQuery<S extends z.core.$ZodLooseShape>(filters: S) {
  const query = z
    .strictObject({
      page: page.exactOptional(),
      size: size.exactOptional(),
      after: after.exactOptional(),
      ...filters,
    })
    .refine(one, BOTH);
  WHOLE.add(query);
  return query;
}
/** Whether a list of this query is whole where no page is asked for. */
export const isWholeQuery = (query: object | undefined): boolean => query !== undefined && WHOLE.has(query);
export const wholeQuery = wholeListQuery({});
