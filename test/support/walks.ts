/** docs/walks.md as data. */
import { documentText } from './documents.ts';

export interface Station {
  readonly file: string;
  readonly uses: readonly string[];
}

/** The stations of each walk, by its title, in order. */
export function walks(): Map<string, Station[]> {
  return new Map(
    documentText('walks.md')
      .split(/^## /m)
      .slice(1)
      .map((text) => {
        const rows = text
          .split('\n')
          .filter((line) => /^\| \d+ \|/.test(line))
          .map((line) => {
            const cells = line.split('|').map((cell) => cell.trim());
            const named = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
            return { file: named(cells[3]!)[0]!, uses: named(cells[4]!) };
          });
        return [text.split('\n')[0]!, rows];
      }),
  );
}
