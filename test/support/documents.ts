/** Tables of the specification as the tests read them. */
import { readFileSync } from 'node:fs';

/** Text of a document below docs/. */
export function documentText(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** The part between a heading and the next one of its level or above. Throws: Error when there is no such heading. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  if (start === -1) throw new Error(`no heading ${heading}`);
  const level = /^#+/.exec(heading)![0].length;
  const length = lines.slice(start + 1).findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(start, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** Rows of all tables of a text, cells trimmed, heads and rules left out. */
export function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const isRow = line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(line) && !/^\|[\s:|-]+\|$/.test(lines[at + 1] ?? '');
    return isRow
      ? [
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ]
      : [];
  });
}

/** Words in code marks. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}
