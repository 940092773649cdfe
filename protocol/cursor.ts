/**
 * Stable cursors of lists. A cursor names the last row that its page showed, by the key that the list is ordered by;
 * the next page begins behind that key. Rows that come, go or change status meanwhile move no other row.
 */
import { isRefusal, refuse, type Refusal } from './errors.ts';
import { PAGE_SIZE_DEFAULT, pageNumberOf, pageOf, type Cursor, type Page, type PageAsk } from './page.ts';
import { CHAINS, type Chain } from './slugs.ts';

/** Lists that are walked by a cursor. One of another list is refused: its key means nothing there. */
export const LISTS = [
  'addresses',
  'transactions',
  'deliveries',
  'webhooks',
  'chains',
  'readiness',
  'sessions',
  'gas-tanks',
  'tokens',
  'treasury-wallets',
  'wallet-balances',
  'funding-wallets',
  'sweep-policies',
  'sweep-jobs',
  'sweep-operations',
  'sweep-preview',
  'bridge-policies',
  'bridge-transfers',
  'key-sources',
  'migration-projects',
  'imports',
  'import-issues',
  'import-reviews',
  'import-claims',
  'scan-addresses',
  'scan-limits',
  'factor-resets',
  'organizations',
  'invitations',
  'members',
  'api-keys',
  'edge-keys',
  'rotations',
  'local-keys',
  'logins',
  'passkeys',
  'sso',
  'domains',
  'statements',
  'billed',
  'audit-log',
  'payment-links',
  'token-requests',
  'token-reviews',
  'registry-proposals',
  'payments',
  'invoices',
  'payment-readiness',
] as const;
export type ListName = (typeof LISTS)[number];

/** Keys of the lists that PostgreSQL walks: an id, or whole microseconds and an id. */
const KEY_FORM: Partial<Record<ListName, RegExp>> = {
  addresses: /^adr_[a-z2-7]{26}$/,
  transactions: /^[0-9]{1,16}\.(?:dep|txn)_[a-z2-7]{26}$/,
  'bridge-transfers': /^[0-9]{1,16}\.brt_[a-z2-7]{26}$/,
  'sweep-jobs': /^[0-9]{1,16}\.swj_[a-z2-7]{26}$/,
  'scan-addresses': /^[0-9]{1,3}\.[0-9]{1,7}$/,
  'scan-limits': /^scn_[a-z2-7]{26}$/,
  'factor-resets': /^frs_[a-z2-7]{26}$/,
  'import-reviews': /^rvw_[a-z2-7]{26}$/,
  'import-claims': /^[0-9]{1,7}$/,
  billed: /^txn_[a-z2-7]{26}\.[0-9]{1,9}$/,
  'edge-keys': /^ek_[a-z2-7]{26}$/,
  'audit-log': /^[0-9]{1,15}$/,
  payments: /^pay_[a-z2-7]{26}$/,
  invoices: /^inv_[a-z2-7]{26}$/,
  'payment-links': /^lnk_[a-z2-7]{26}$/,
  'token-reviews': /^tkr_[a-z2-7]{26}$/,
  'registry-proposals': /^rgp_[a-z2-7]{26}$/,
  deliveries: /^dlv_[a-z2-7]{26}$/,
};

/** Characters of a cursor: a key holds an instant and an id, an e-mail address at most. */
export const CURSOR_CHARS_MAX = 1_000;
/** What a text that is no cursor of the list gets to read. */
export const NO_CURSOR = 'not a cursor of this list: send the `next` of its last page, unchanged';
const VERSION = '1';

const bytesOf = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const textOf = (base64: string): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));

/** The opaque text of a cursor: letters, digits, `-` and `_`. */
export function cursorText(list: ListName, { page, key }: Cursor): string {
  return bytesOf(JSON.stringify([VERSION, list, page, key]))
    .replace(/=+$/, '')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** Null for text that is no cursor of the list. */
export function cursorOf(list: ListName, text: string): Cursor | null {
  if (text.length > CURSOR_CHARS_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    const parsed: unknown = JSON.parse(textOf(text.replaceAll('-', '+').replaceAll('_', '/')));
    if (!Array.isArray(parsed) || parsed.length !== 4) return null;
    const [version, name, page, key] = parsed as unknown[];
    if (
      version !== VERSION ||
      name !== list ||
      typeof key !== 'string' ||
      key.includes('\u0000') ||
      !key.isWellFormed()
    )
      return null;
    if (!Number.isSafeInteger(page) || (page as number) < 1 || KEY_FORM[list]?.test(key) === false) return null;
    return { page: page as number, key };
  } catch {
    return null; // any other text
  }
}

/** What a list's query asks for. Refuses: INVALID_INPUT for a text that is no cursor of this list. */
export function pageAskOf(
  list: ListName,
  { page, size, after }: { page?: number; size: number; after?: string },
): PageAsk | Refusal {
  if (after === undefined) return { page: page ?? 0, size };
  const cursor = cursorOf(list, after);
  return cursor === null
    ? refuse('INVALID_INPUT', { field: 'query.after', reason: NO_CURSOR })
    : { after: cursor, size };
}

/**
 * One page of a list that is at hand as a whole. `keyOf` orders it, by the code units of its text: ascending or
 * `newest` first.
 */
export function slicePage<T>(
  list: ListName,
  rows: readonly T[],
  ask: PageAsk,
  keyOf: (row: T) => string,
  order: 'ascending' | 'newest',
): Page<T> {
  const { size } = ask;
  const page = pageNumberOf(ask);
  const sorted = order === 'ascending' ? (a: string, b: string) => a < b : (a: string, b: string) => a > b;
  const keyed = rows
    .map((row) => ({ row, key: keyOf(row) }))
    .toSorted((left, right) => (sorted(left.key, right.key) ? -1 : sorted(right.key, left.key) ? 1 : 0));
  const from = 'after' in ask ? keyed.filter(({ key }) => sorted(ask.after.key, key)) : keyed.slice(page * size);
  const shown = from.slice(0, size);
  const next = from.length > size ? cursorText(list, { page: page + 1, key: shown.at(-1)!.key }) : null;
  return pageOf(
    shown.map(({ row }) => row),
    { page, size, total: rows.length, next },
  );
}

/** Sorts chains as the documents list them. */
export const chainPlace = (chain: Chain): string => String(CHAINS.indexOf(chain)).padStart(3, '0');

/** A short list: all of it, or the page that is asked for. `keyOf` orders it as `slicePage` says. */
export function wholePage<T>(
  list: ListName,
  rows: readonly T[],
  { page, size, after }: { page?: number; size?: number; after?: string },
  keyOf: (row: T) => string,
  order: 'ascending' | 'newest' = 'ascending',
): Page<T> | Refusal {
  const isWhole = page === undefined && size === undefined && after === undefined;
  const ask = isWhole
    ? { page: 0, size: Math.max(1, rows.length) }
    : pageAskOf(list, {
        size: size ?? PAGE_SIZE_DEFAULT,
        ...(page === undefined ? {} : { page }),
        ...(after === undefined ? {} : { after }),
      });
  return isRefusal(ask) ? ask : slicePage(list, rows, ask, keyOf, order);
}
