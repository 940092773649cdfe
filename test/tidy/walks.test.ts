/** docs/walks.md is what the code does: each station exists and goes on by what it names. House 8. */
import { existsSync } from 'node:fs';
import test from 'ava';
import { documentText } from '../support/documents.ts';
import { filesOf, importsOf, ROOT } from '../support/tree.ts';

/** Most files that a person opens to follow a walk. House part 1. */
const FILES_MAX: Readonly<Record<string, number>> = { 'A deposit': 24, 'A withdrawal': 28 };

interface Station {
  readonly file: string;
  readonly uses: readonly string[];
}

function walks(): Map<string, Station[]> {
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

const sourcesByPath = new Map(filesOf(['.'], '.ts').map((file) => [file.path, file]));

test('house 8: each station of a walk is a file that imports, or calls by name, what the walk says', (t) => {
  const wrong: string[] = [];
  for (const [walk, stations] of walks()) {
    t.true(stations.length >= 5, walk);
    for (const { file, uses } of stations) {
      if (!existsSync(`${ROOT}${file}`)) {
        wrong.push(`${walk}: ${file} does not exist`);
        continue;
      }
      const source = sourcesByPath.get(file),
        text = source?.text ?? filesOf([file], '.sql')[0]!.text;
      const imports = source === undefined ? [] : importsOf(source).map(({ target }) => target);
      for (const used of uses) {
        if (used.endsWith('.ts') ? !imports.includes(used) : !new RegExp(`\\b${used}\\b`).test(text))
          wrong.push(`${walk}: ${file} does not use ${used}`);
        if (!used.endsWith('.ts') && !existsSync(`${ROOT}persistence/postgres/functions/${used}.sql`))
          wrong.push(`${walk}: no function ${used}`);
      }
    }
  }
  t.deepEqual(wrong, []);
});

test('house 1: a deposit is followed through at most 24 files, a withdrawal through at most 28', (t) => {
  for (const [walk, stations] of walks()) {
    const [, most] = Object.entries(FILES_MAX).find(([name]) => walk.startsWith(name)) ?? ['', 28];
    t.true(new Set(stations.map(({ file }) => file)).size <= most, walk);
  }
});
