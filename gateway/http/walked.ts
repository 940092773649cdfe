/** Lists that are walked by a cursor and have no numbers of pages. */
import { cursorText, pageAskOf, type ListName } from '../../protocol/cursor.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';

export interface Walk<Row> {
  /** Rows behind a key, in the list's order; null begins. */
  read(after: string | null, limit: number): Promise<readonly Row[]>;
  /** What the list is ordered by. */
  keyOf(row: Row): string;
}

/** The rows of a page, and the cursor of the one behind it. Refuses: INVALID_INPUT for a cursor of another list. */
export async function walked<Row>(
  list: ListName,
  query: Parameters<typeof pageAskOf>[1],
  { read, keyOf }: Walk<Row>,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null } | Refusal> {
  const ask = pageAskOf(list, query);
  if (isRefusal(ask)) return ask;
  const after = 'after' in ask ? ask.after : null;
  const found = await read(after?.key ?? null, ask.size + 1);
  const rows = found.slice(0, ask.size);
  const next =
    found.length > ask.size ? cursorText(list, { page: (after?.page ?? 0) + 1, key: keyOf(rows.at(-1)!) }) : null;
  return { rows, next };
}
