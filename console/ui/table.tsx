/** Tables: pages of the server, rows by id. On a narrow screen a row is a card. Console C12. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { filter, place } from '../app/location.ts';

export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly align?: 'right';
  /** Left out where the screen is narrow. */
  readonly wideOnly?: true;
}

export function Table<T>({
  rows,
  columns,
  keyOf,
  caption,
  live,
}: {
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  caption: string;
  /** What of a list that rises by itself is shown: its filters and its page. Absent for a list that does not. */
  live?: string;
}): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const { shown, waiting, take } = useHeld(rows, keyOf, live, frame);
  const table = (
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0} ref={frame}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, align, wideOnly }) => (
              <th
                key={name}
                scope="col"
                class={[align, wideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, align, wideOnly }) => (
                <td
                  key={name}
                  data-name={name}
                  class={[align, wideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (live === undefined) return table;
  return (
    <>
      <p class="table-new" role="status">
        {waiting > 0 && (
          <button type="button" class="button small" onClick={take}>
            {waiting} new
          </button>
        )}
      </p>
      {table}
    </>
  );
}

/** The reader is further down, or has selected something of it. */
function isRead(frame: HTMLElement | null): boolean {
  const selection = document.getSelection();
  const hasSelected = selection !== null && !selection.isCollapsed && frame?.contains(selection.anchorNode) === true;
  return window.scrollY > SCROLLED_PX || hasSelected;
}
const SCROLLED_PX = 40;

/** Rows that come while the list is read wait; those that are there are kept in their places and brought up to date. */
function useHeld<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  live: string | undefined,
  frame: { readonly current: HTMLElement | null },
): { shown: readonly T[]; waiting: number; take(): void } {
  const before = useRef<{ live: string; rows: readonly T[] } | null>(null);
  const [, renderAgain] = useState(0);
  if (live === undefined) return { shown: rows, waiting: 0, take: () => undefined };
  const known = before.current?.live === live ? before.current.rows : [];
  const keys = new Set(known.map(keyOf));
  const waiting = known.length === 0 ? 0 : rows.filter((row) => !keys.has(keyOf(row))).length;
  const newest = new Map(rows.map((row) => [keyOf(row), row]));
  const isHeld = waiting > 0 && isRead(frame.current);
  const shown = isHeld ? known.map((row) => newest.get(keyOf(row)) ?? row) : rows;
  before.current = { live, rows: shown };
  return {
    shown,
    waiting: isHeld ? waiting : 0,
    take() {
      before.current = null;
      window.scrollTo({ top: 0 });
      renderAgain((count) => count + 1);
    },
  };
}

interface Paged {
  readonly totalElements: number;
  readonly totalCapped?: true;
  readonly next: string | null;
  readonly content: readonly unknown[];
}

/** Further and back in a walk of a list. The cursor is in the address, so that back and links keep it. */
export function Pager({ of, what }: { of: Paged; what: string }): JSX.Element | null {
  const { totalElements, totalCapped, next, content } = of;
  return (
    <Steps next={next} what={what} isNeeded={content.length > 8}>
      {totalCapped === true ? 'More than ' : ''}
      {totalElements.toLocaleString('en')} {what}
    </Steps>
  );
}

/** The same with a text of its own, for a list that is not counted. `isNeeded`: shown although it is the only page. */
export function Steps({
  next,
  what,
  isNeeded = false,
  children,
}: {
  next: string | null;
  what: string;
  isNeeded?: boolean;
  children: ComponentChildren;
}): JSX.Element | null {
  const isFirst = place.value.query['after'] === undefined;
  if (isFirst && next === null && !isNeeded) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span class="faint">{children}</span>
      <button type="button" class="button small" disabled={isFirst} onClick={() => history.back()}>
        Back
      </button>
      <button
        type="button"
        class="button small"
        disabled={next === null}
        onClick={() => filter({ after: next ?? undefined })}
      >
        Older
      </button>
    </nav>
  );
}

/** One filter of a list, kept in the address. */
export function Filter({
  name,
  label,
  options,
  all = 'All',
}: {
  name: string;
  label: string;
  options: readonly (readonly [string, string])[];
  /** What is shown without it. */
  all?: string;
}): JSX.Element {
  const value = place.value.query[name] ?? '';
  return (
    <label class="filter">
      <span>{label}</span>
      <select value={value} onChange={(event) => filter({ [name]: event.currentTarget.value || undefined })}>
        <option value="" selected={value === ''}>
          {all}
        </option>
        {options.map(([slug, shown]) => (
          <option key={slug} value={slug} selected={value === slug}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

export function TextFilter({ name, label }: { name: string; label: string }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const apply = (): void => filter({ [name]: input.current?.value.trim() || undefined });
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label>
        <span>{label}</span>
        <input
          ref={input}
          type="search"
          spellcheck={false}
          value={place.value.query[name] ?? ''}
          onBlur={(event) => {
            if ((event.currentTarget.value.trim() || undefined) !== place.peek().query[name]) apply();
          }}
        />
      </label>
    </form>
  );
}
