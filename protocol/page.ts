/** Spec §2.1, decisions 3: pages of lists. */
/** Decisions 3: default 20, maximum 200, zero-based. */
export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 200;

/** A filtered list is counted up to here; its pages end there too, and a cursor goes on. Decisions 3. */
export const COUNTED_ROWS_MAX = 10_000;
/**
 * How many rows a page of an unfiltered list may skip: skipping is work that grows. A cursor has no such
 * bound.
 */
export const SKIPPED_ROWS_MAX = 100_000;

export interface Page<T> {
  content: T[];
  page: number;
  size: number;
  totalElements: number;
  totalPages: number;
  /** Only where there are more than `totalElements`. */
  totalCapped?: true;
  /** Cursor of what follows the last row; null at the end. */
  next: string | null;
}

/**
 * The position of a walk: the key of the last row shown. `page` counts the pages of the walk, for the envelope only.
 */
export interface Cursor {
  readonly page: number;
  readonly key: string;
}

/** A page by its number, or what follows a cursor. */
export type PageAsk = { readonly size: number } & ({ readonly page: number } | { readonly after: Cursor });

/** Number of the page that is asked for. */
export const pageNumberOf = (ask: PageAsk): number => ('after' in ask ? ask.after.page : ask.page);

/** `total` rows; above `countedTo` there are more. */
export function pageOf<T>(
  content: T[],
  {
    page,
    size,
    total,
    next,
    countedTo = Infinity,
  }: { page: number; size: number; total: number; next: string | null; countedTo?: number },
): Page<T> {
  const totalElements = Math.min(total, countedTo);
  return {
    content,
    page,
    size,
    totalElements,
    totalPages: Math.ceil(totalElements / size),
    ...(total > countedTo ? { totalCapped: true } : {}),
    next,
  };
}
