/** The calls on the pages of operations compile against the clients, and so do the programs of documents. X43. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { methodsOf } from '../../../clients/generate/callable.ts';
import { contractNow } from '../../../clients/generate/contract.ts';
import { samplesOf, type Samples } from '../../../clients/generate/samples.ts';
import { argumentsOf } from '../../../docs/site/operations.ts';
import { describeApi } from '../../../gateway/pages/openapi.ts';
import { readRecordings } from '../../../gateway/pages/recordings.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { placeForGo } from '../../support/clients/installed-go.ts';
import { installPython } from '../../support/clients/installed-python.ts';
import { fences } from '../../support/fences.ts';
import { ROOT } from '../../support/tree.ts';

const contract = contractNow();
const all = { api: describeApi('https://cloud.example.com'), contract, recordings: readRecordings() };
const samples: [string, Samples][] = methodsOf(contract).map((method) => {
  const route = ROUTE_LIST.find(({ operationId }) => operationId === method.id)!;
  return [method.id, samplesOf(method, argumentsOf(route, method, all), contract)];
});
const indented = (code: string, by: string): string => code.replace(/^(?=.)/gm, by);

test('ecosystem X38, X43 every call in TypeScript, and every block of it in a document, compiles', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-samples-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const source = (name: string): string => join(ROOT, 'clients/typescript/src', `${name}.ts`);
  const calls = samples.map(
    ([id, { ts }]) => `export async function ${id}(flock: Flock): Promise<void> {\n${indented(ts, '  ')}\n}`,
  );
  writeFileSync(join(folder, 'calls.ts'), `import type { Flock } from 'flock-client';\n${calls.join('\n')}\n`);
  const blocks = fences().filter(({ language, code }) => language === 'ts' && code.includes('flock-client'));
  t.true(blocks.length >= 4);
  for (const [at, { code }] of blocks.entries()) {
    const names = ['credit'].filter((name) => code.includes(`${name}(`));
    const declared = names.map((name) => `declare function ${name}(...given: unknown[]): Promise<void>;`).join('\n');
    writeFileSync(join(folder, `block-${at}.ts`), `${code}\n${declared}\nexport {};\n`);
  }
  const options = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noUnusedLocals: false,
      incremental: false,
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: {
        'flock-client': [source('index')],
        'flock-client/webhooks': [source('webhooks')],
        'flock-client/units': [source('units')],
      },
    },
    include: ['*.ts'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', folder],
    { encoding: 'utf8' },
  );
  t.is(status, 0, stdout.slice(0, 4_000));
});

test('ecosystem X38, X43 every call in Python, and every block of it in a document, has the types of the client', (t) => {
  const python = installPython();
  t.teardown(() => python.remove());
  const calls = samples.map(
    ([id, { python: code }]) => `def ${id}(flock: Flock) -> None:\n${indented(code, '    ')}\n`,
  );
  writeFileSync(join(python.folder, 'calls.py'), `from flock_client import Flock\n\n${calls.join('\n')}`);
  const blocks = fences().filter(({ language, file }) => language === 'python' && file.startsWith('docs/'));
  for (const [at, { code }] of blocks.entries()) writeFileSync(join(python.folder, `block_${at}.py`), code);
  t.true(blocks.length > 0);
  const files = ['calls.py', ...blocks.map((_, at) => `block_${at}.py`)];
  const { status, stdout } = spawnSync('/usr/bin/mypy', ['--no-incremental', '--cache-dir', '/dev/null', ...files], {
    cwd: python.folder,
    encoding: 'utf8',
    env: { ...process.env, MYPYPATH: python.folder },
  });
  t.is(status, 0, stdout.slice(0, 4_000));
});

test('ecosystem X38, X43 every call in Go compiles', (t) => {
  const place = placeForGo();
  t.teardown(() => place.remove());
  const calls = samples.map(([id, { go }]) => {
    const name = `call${id[0]!.toUpperCase()}${id.slice(1)}`;
    const used = go.startsWith('answer') ? '\t_ = answer\n' : '';
    return `func ${name}(ctx context.Context, client *flock.Client) error {\n${indented(go, '\t')}\n${used}\treturn err\n}\n`;
  });
  mkdirSync(join(place.folder, 'calls'));
  writeFileSync(
    join(place.folder, 'calls', 'calls.go'),
    `package calls\n\nimport (\n\t"context"\n\t"encoding/json"\n\t"fmt"\n\n\t"flock.example/flock"\n)\n\nvar _ = json.RawMessage(nil)\nvar _ = fmt.Sprint\n\n${calls.join('\n')}`,
  );
  t.notThrows(() => place.go(['vet', './calls']));
});

test('ecosystem X43 every block of a document is of a language that a test reads: JSON parses, shell is whole, YAML too', async (t) => {
  const { parse } = await import('yaml');
  const wrong: string[] = [];
  for (const { file, line, language, code } of fences()) {
    const where = `${file}:${line}`;
    if (language === 'json') {
      try {
        JSON.parse(code);
      } catch (error) {
        wrong.push(`${where}: ${String(error)}`);
      }
    } else if (language === 'yaml') {
      parse(code);
    } else if (language === 'sh') {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
      if (status !== 0) wrong.push(`${where}: ${stderr}`);
    } else if (!['', 'text', 'ts', 'js', 'python', 'go', 'sql', 'html'].includes(language))
      wrong.push(`${where}: ${language}`);
  }
  t.deepEqual(wrong, []);
});

test('ecosystem X43 what a guide shows of SQL is what the receivers keep', (t) => {
  const [table, statement] = fences().filter(
    ({ file, language }) => file === 'docs/guides/credit-safely.md' && language === 'sql',
  );
  const kept = execFileSync('cat', [join(ROOT, 'clients/receivers/table.sql')], { encoding: 'utf8' });
  t.true(kept.includes(table!.code.trim()));
  const store = execFileSync('cat', [join(ROOT, 'clients/receivers/store.mjs')], { encoding: 'utf8' }).replace(
    /\s+/g,
    ' ',
  );
  t.true(
    store.includes(
      'on conflict (credit_key) do update set incarnation = excluded.incarnation, is_reversed = excluded.is_reversed where (deposits.incarnation, deposits.is_reversed) < (excluded.incarnation, excluded.is_reversed)',
    ),
  );
  t.true(
    statement!.code
      .replace(/\s+/g, ' ')
      .includes('where (deposits.incarnation, deposits.is_reversed) < (excluded.incarnation, excluded.is_reversed)'),
  );
});
