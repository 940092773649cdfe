/** Spec §2.1: the envelope of every response. */
import { z } from 'zod';
import type { Refusal } from './errors.ts';

export interface Meta { requestId: string; timestamp: string }
export interface Success<T> { success: true; data: T; meta: Meta }
export interface Failure { success: false; data: null; error: { code: string; message: string; details: object }; meta: Meta }
export type Envelope<T> = Success<T> | Failure;

export function succeed<T>(data: T, meta: Meta): Success<T> {
  return { success: true, data, meta };
}

export function fail(refusal: Refusal, meta: Meta): Failure {
  const { code, message, details } = refusal;
  return { success: false, data: null, error: { code, message, details }, meta };
}

/** Decisions 3: default 20, maximum 200, zero-based. */
export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 200;

export interface Page<T> { content: T[]; page: number; size: number; totalElements: number; totalPages: number }

export function pageOf<T>(content: T[], page: number, size: number, totalElements: number): Page<T> {
  return { content, page, size, totalElements, totalPages: Math.ceil(totalElements / size) };
}

const wholeNumber = (max: number) => z.string().regex(/^(0|[1-9][0-9]{0,9})$/).transform(Number).pipe(z.number().max(max));

/** Media types that a body may have: JSON in UTF-8. */
export const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;\s*charset=["']?utf-8["']?\s*)?$/i;

/** Query of every list: both are decimal text on the wire. */
export const pageQuery = z.object({
  page: wholeNumber(1_000_000).default(0),
  size: wholeNumber(PAGE_SIZE_MAX).pipe(z.number().min(1)).default(PAGE_SIZE_DEFAULT),
});

/** Query of a list that is short: all of it, unless a page is asked for. */
export const wholeQuery = z.strictObject({
  page: wholeNumber(1_000_000).exactOptional(),
  size: wholeNumber(PAGE_SIZE_MAX).pipe(z.number().min(1)).exactOptional(),
});
