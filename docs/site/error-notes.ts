/** What docs/errors.md says of each code: its next step, and the tables of its reasons. */
import { readFileSync } from 'node:fs';
import type { ErrorCode } from '../../protocol/errors.ts';
import { render, tokensOf, type NameOf } from './markdown.ts';
import { hrefFrom } from './page.ts';

const TEXT = readFileSync(new URL('../errors.md', import.meta.url), 'utf8');
/** Chapters of docs/errors.md that belong to a code. */
const CHAPTERS: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_INPUT: '## Fields',
  INVALID_AMOUNT: '## Fields',
  UNAUTHORIZED: '## Keys',
  TOTP_REQUIRED: '## Second factors',
  IDEMPOTENCY_CONFLICT: '## Idempotency keys',
};

export interface ErrorNote {
  /** Markup of the next step. */
  readonly next: string;
  /** Markup of what else there is to say. */
  readonly more: string;
  readonly markdown: string;
}
export type ErrorNotes = (code: ErrorCode, path: string, nameOf: NameOf) => ErrorNote;

const chapter = (heading: string): string => {
  const from = TEXT.indexOf(`${heading}\n`) + heading.length;
  const end = TEXT.indexOf('\n## ', from);
  return TEXT.slice(from, end < 0 ? undefined : end);
};

/** Rows of the table: status, code, when, details, next step. */
const ROWS = new Map(
  TEXT.split('\n')
    .filter((line) => /^\| \d{3} \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => [cells[2]!.replaceAll('`', ''), { details: cells[4]!, next: cells[5]! }]),
);

const sentence = (text: string): string =>
  text === '' ? '' : `${text[0]!.toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;

/** Notes by code. Throws: Error where the table has no row. */
export const errorNotes: ErrorNotes = (code, path, nameOf) => {
  const row = ROWS.get(code);
  if (row === undefined) throw new Error(`docs/errors.md has no row of ${code}`);
  const resolve = (target: string): string | null =>
    /^[\w-]+\.md/.test(target)
      ? hrefFrom(path, `${target.startsWith('configuration') ? 'operate' : 'guides'}/${target.replace('.md', '.html')}`)
      : null;
  const inline = (text: string): string =>
    render(tokensOf(text), [], resolve, nameOf).body.replace(/^<p>|<\/p>\n?$/g, '');
  const heading = CHAPTERS[code];
  const more = heading === undefined ? '' : render(tokensOf(chapter(heading)), [], resolve, nameOf).body;
  const next = sentence(row.next);
  return { next: inline(next === '' ? 'Read the message: it says what is missing.' : next), more, markdown: next };
};
