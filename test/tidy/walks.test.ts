/** docs/walks.md is what the code does: each station exists and goes on by what it names. House 8. */
import { existsSync } from 'node:fs';
import test from 'ava';
import { filesOf, importsOf, ROOT } from '../support/tree.ts';
import { walks } from '../support/walks.ts';

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
