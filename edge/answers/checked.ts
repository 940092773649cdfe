/**
 * An answer of the cloud as it is handed on: read by the schema of its route, what is in no schema left out, and every
 * fact that this edge can compute compared. What differs is an alarm and does not reach the caller. Decisions 6, G28.
 * A row of a page that only the record of issued addresses contradicts is left out and counted; the page stays usable.
 *
 * A page is looked at in slices, so that a large one holds up nobody else's request.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { isWholeQuery } from '../../protocol/envelope.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../protocol/page.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { codesOf, type Route } from '../../protocol/route.ts';
import { ROUTES, type OperationId } from '../../protocol/routes.ts';
import { otherSpellingOf } from '../signing/other-spelling.ts';
import { ISSUE_PROBLEMS, type IssueProblem } from './issued-addresses.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { isRenamed, type Ask, type Known } from './known.ts';
import { ANSWER_RULES, FILTERS, type AnswerRule, type ForwardedOperation } from './rules.ts';

/** Rows that are read by their schema in one turn of the loop. */
const ROWS_PER_TURN = 32;
/**
 * Steps of derivation in one turn, `OwnAddresses.steps`, before that of the row that passes it: some ten milliseconds.
 */
export const STEPS_PER_TURN = 32;
/** Entries of a list that is short and whole; what has pages has at most one page. */
const WHOLE_ROWS_MAX = 5_000;

export interface Checked {
  readonly data: unknown;
  readonly refusal: Refusal | null;
  /** Withdrawals that the cloud calls unsigned although it took their signed bytes; `data` has them as they are. */
  readonly unsaid: readonly string[];
  /** Rows of a page that were left out, by the field that the record of issued addresses contradicts. */
  readonly withheld: readonly string[];
  /** Fields that name a listed token otherwise than the registry in use; handed on. */
  readonly renamed: readonly string[];
}

const isForwarded = (operation: OperationId): operation is ForwardedOperation => Object.hasOwn(ANSWER_RULES, operation);

/** What the record of issued addresses has against a field; null where the edge computes that it is false. */
const problemIn = (field: string): IssueProblem | null =>
  ISSUE_PROBLEMS.find((one) => field.endsWith(`: ${one}`)) ?? null;

const FALSE_ANSWER = 'false_answer';

/**
 * The refusal of an answer that is not handed on; `field` is the first that does not hold. What is false by the edge's
 * own computation is `false_answer`. Where the edge derives the address itself, and only its record of what it issued
 * is against it, the cloud may as well have forgotten (a restored database), or the edge (a restored data directory):
 * the refusal names that, as 409 where the route has it.
 */
export function withheldAnswer(route: Route, field: string): Refusal {
  const problem = problemIn(field);
  if (problem === null)
    return refuse(
      'INTERNAL_ERROR',
      { reason: FALSE_ANSWER, field },
      'the cloud answered what this edge knows to be otherwise; it was not handed on',
    );
  const details = { reason: problem, field, ...STEPS[problem] },
    message = 'this edge derives the address, but not as the next one that it may issue; it was not handed on';
  return codesOf(route).includes('CONFLICT')
    ? refuse('CONFLICT', details, message)
    : refuse('INTERNAL_ERROR', details, message);
}

const FORGOTTEN = {
  next: 'ask for a new address under another Idempotency-Key: it gets a path further on. Each such answer is an address that a restored cloud forgot, or a lie of its',
};
const STEPS: Readonly<Record<IssueProblem, { readonly next: string; readonly setting?: string }>> = {
  issued_to_another: FORGOTTEN,
  issued_before: FORGOTTEN,
  id_of_another: FORGOTTEN,
  index_beyond_gap: {
    setting: 'EDGE_ADDRESS_GAP',
    next: 'after a new or restored data directory set it above the number of your addresses, for the first one',
  },
};

/** How an answer that was not handed on is logged: an alarm, unless only the edge's own bound is against it. */
export function withheldKind(refusal: Refusal): 'answer_false' | 'answer_contradicts_issued' | 'address_beyond_gap' {
  const { reason } = refusal.details;
  if (reason === FALSE_ANSWER) return 'answer_false';
  return reason === 'index_beyond_gap' ? 'address_beyond_gap' : 'answer_contradicts_issued';
}

/** Data of a successful answer. Refuses: INTERNAL_ERROR, CONFLICT with the field that does not hold. */
export async function checkedAnswer(operation: OperationId, data: unknown, ask: Ask, known: Known): Promise<Checked> {
  const route: Route = ROUTES[operation];
  const no = (field: string): Checked => ({
    data: null,
    refusal: withheldAnswer(route, field),
    unsaid: [],
    withheld: [],
    renamed: [],
  });
  if (!isForwarded(operation)) return no('operation');
  const isWhole = isWholeQuery(route.query) && !hasSizes(ask);
  if (isPage(data) && data.content.length > (isWhole ? WHOLE_ROWS_MAX : sizeOf(ask))) return no('content');
  const misspelt = misspeltName(data);
  if (misspelt !== null) return no(misspelt);
  const parsed = await parsedInSlices(route.reply, data);
  if (typeof parsed === 'string') return no(parsed);
  // One rule a route; the type of its rows is that of the route's own schema, by which the data was just read.
  const rule = ANSWER_RULES[operation] as AnswerRule<unknown>;
  const page = isPage(parsed.data) ? parsed.data : null,
    rows = page?.content ?? [parsed.data];
  const paged = page === null ? null : falsePage(page, ask, isWhole);
  if (paged !== null) return no(paged);
  const read: unknown[] = [],
    unsaid: string[] = [],
    withheld: string[] = [],
    renamed: string[] = [];
  let steps = known.own.steps;
  for (const [index, row] of rows.entries()) {
    if (known.own.steps - steps >= STEPS_PER_TURN || index % ROWS_PER_TURN === ROWS_PER_TURN - 1) {
      await turn();
      ({ steps } = known.own);
    }
    const field =
      ofAnother(row, ask) ?? (page === null ? null : unfiltered(row, ask)) ?? (await rule.falseField(row, ask, known));
    if (field !== null && (page === null || problemIn(field) === null))
      return no(page === null ? field : `content.${index}.${field}`);
    // A restored database, or a restored data directory, contradicts a few rows: the others stay readable.
    if (field !== null) {
      withheld.push(`content.${index}.${field}`);
      continue;
    }
    const name = renamedIn(row, known);
    if (name !== null) renamed.push(page === null ? name : `content.${index}.${name}`);
    const better = rule.asKnown?.(row, known) ?? null;
    read.push(better?.row ?? row);
    if (better?.wasTaken === true) unsaid.push((row as { readonly id: string }).id);
  }
  const answer = page === null ? read[0] : pageOf(page, read, withheld.length);
  return { data: answer, refusal: null, unsaid, withheld, renamed };
}

/** The field of a row that names its token as the registry in use does not: an older one does, a newer one, or none. */
function renamedIn(row: unknown, { catalogueOf }: Known): string | null {
  const { chain, tokenContract, tokenSymbol, asset } = row as Readonly<Record<string, unknown>>;
  if (typeof tokenContract !== 'string' || typeof chain !== 'string') return null;
  const field = typeof tokenSymbol === 'string' ? 'tokenSymbol' : typeof asset === 'string' ? 'asset' : null;
  const said = field === 'tokenSymbol' ? tokenSymbol : asset;
  return field !== null && isRenamed({ tokenContract, tokenSymbol: said as string }, catalogueOf(chain as Chain))
    ? field
    : null;
}

interface Schema {
  safeParse(
    data: unknown,
  ):
    | { success: true; data: unknown }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[] }[] } };
}

/** The data as the schema has it, the rows of a page in slices; or the first field that is in no form. */
async function parsedInSlices(schema: Schema, data: unknown): Promise<{ readonly data: unknown } | string> {
  if (!isPage(data) || data.content.length <= ROWS_PER_TURN) return parsedBy(schema, data, 0);
  const content: unknown[] = [];
  for (let from = 0; from < data.content.length; from += ROWS_PER_TURN) {
    if (from > 0) await turn();
    const slice = parsedBy(schema, { ...data, content: data.content.slice(from, from + ROWS_PER_TURN) }, from);
    if (typeof slice === 'string') return slice;
    content.push(...(slice.data as PageJson).content);
    if (from + ROWS_PER_TURN >= data.content.length) return { data: { ...(slice.data as PageJson), content } };
  }
  return 'content';
}

function parsedBy(schema: Schema, data: unknown, firstRow: number): { readonly data: unknown } | string {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed;
  const [first, index, ...rest] = parsed.error.issues[0]?.path ?? [];
  return (
    first === 'content' && typeof index === 'number'
      ? [first, firstRow + index, ...rest]
      : (parsed.error.issues[0]?.path ?? [])
  ).join('.');
}

interface PageJson {
  readonly content: readonly unknown[];
  readonly page: number;
  readonly size: number;
  readonly withheld?: number;
}

function isPage(data: unknown): data is PageJson {
  return typeof data === 'object' && data !== null && Array.isArray((data as { content?: unknown }).content);
}

/** The page with the rows that are handed on. How many are not is this edge's word alone. */
function pageOf({ withheld: _, ...page }: PageJson, content: readonly unknown[], withheld: number): object {
  return { ...page, content, ...(withheld === 0 ? {} : { withheld }) };
}

const hasSizes = ({ query }: Ask): boolean =>
  query['page'] !== undefined || query['size'] !== undefined || query['after'] !== undefined;

/** Entries that a page may have; a question with a body has its page there. */
function sizeOf({ query, body }: Ask): number {
  return Math.min(PAGE_SIZE_MAX, Number(query['size'] ?? body['size'] ?? PAGE_SIZE_DEFAULT));
}

/** The page that was asked for, and no more rows than it has. */
function falsePage({ content, page, size }: PageJson, ask: Ask, isWhole: boolean): string | null {
  if (content.length > size) return 'size';
  if (isWhole) return page !== 0 ? 'page' : size === Math.max(1, content.length) ? null : 'size';
  if (size !== sizeOf(ask)) return 'size';
  return ask.query['after'] !== undefined || page === Number(ask.query['page'] ?? ask.body['page'] ?? 0)
    ? null
    : 'page';
}

/**
 * Of a path what a rule compares by itself: texts that an answer gives in their canonical form, and an id, which in a
 * list below it is that of each entry.
 */
const BY_RULE: ReadonlySet<string> = new Set(['address', 'token', 'id']);

/** A field that is named as a part of the path is what the path says. */
function ofAnother(row: unknown, { params }: Ask): string | null {
  const fields = row as Record<string, unknown>;
  return (
    Object.keys(params).find(
      (name) => !BY_RULE.has(name) && Object.hasOwn(fields, name) && fields[name] !== params[name],
    ) ?? null
  );
}

/** A row that the caller's filter would not let through. */
function unfiltered(row: unknown, { query }: Ask): string | null {
  const fields = row as Record<string, unknown>;
  return FILTERS.find((name) => query[name] !== undefined && name in fields && fields[name] !== query[name]) ?? null;
}

const hasOtherName = otherSpellingOf([
  'chain',
  'address',
  'derivationPath',
  'amount',
  'userRef',
  'tag',
  'to',
  'from',
  'txid',
  'decimals',
  'url',
  'secret',
]);

/**
 * A name in other letters: what is in no schema is left out, but a cloud that writes two of them means to be misread.
 */
function misspeltName(data: unknown): string | null {
  const rows = isPage(data) ? data.content : [data];
  return rows.some((row) => typeof row === 'object' && row !== null && hasOtherName(row)) ? 'other_spelling' : null;
}
