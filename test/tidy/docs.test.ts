import { readFileSync, existsSync } from 'node:fs';
import test from 'ava';
import { CHAINS } from '../../protocol/slugs.ts';
import { STEPS } from '../../developer/first-steps.ts';
import { documentText, tableRows } from '../support/documents.ts';
import { filesOf, ROOMS, ROOT, sources } from '../support/tree.ts';

const DOCUMENTS = filesOf(['README.md', 'CHANGELOG.md', 'docs', 'bench'], '.md').filter(
  ({ path }) => path !== 'docs/spec.md' && path !== 'docs/faults.md',
);
const FOLDERS = [...ROOMS, 'test', 'docs'].join('|');

/** A path of this repository: begins with one of its folders, or is a file at its root. */
const PATH = new RegExp(`^(?:(?:${FOLDERS})/[\\w./<>*{},-]*|[\\w-]+\\.(?:md|yaml|json))$`);

/** A path with `<family>`, `*` or `{a,b}` stands for several; one that exists is enough. */
function exists(path: string, document: string): boolean {
  if (!/[<*{]/.test(path))
    return existsSync(`${ROOT}${path}`) || existsSync(new URL(path, `file://${ROOT}${document}`));
  const pattern = new RegExp(
    `^${path
      .replace(/[.]/g, '\\.')
      .replace(/<\w+>|\*/g, '[\\w-]+')
      .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.split(',').join('|')})`)}`,
  );
  return filesOf([path.split('/')[0]!], '').some((file) => pattern.test(file.path));
}

test('every file that a document names in backticks exists', (t) => {
  const wrong: string[] = [];
  let named = 0;
  for (const { path, text } of DOCUMENTS) {
    for (const [, quoted] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)) {
      if (!PATH.test(quoted!) || quoted!.startsWith('.') || ['dev.json', 'openapi.json'].includes(quoted!)) continue;
      named += 1;
      if (!exists(quoted!, path)) wrong.push(`${path}: ${quoted}`);
    }
  }
  t.true(named > 30);
  t.deepEqual(wrong, []);
});

test('every link of a document leads to a file', (t) => {
  const wrong: string[] = [];
  for (const { path, text } of DOCUMENTS) {
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^https?:/.test(target!)) continue;
      if (!existsSync(new URL(target!, `file://${ROOT}${path}`))) wrong.push(`${path}: ${target}`);
    }
  }
  t.deepEqual(wrong, []);
});

/** Settings that the tables of docs/configuration.md name in their first column; `<CHAIN>` stands for every chain. */
function documented(): Set<string> {
  const names = readFileSync(`${ROOT}docs/configuration.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  return new Set(
    names.filter((name) => /^(?:<CHAIN>_)?[A-Z][A-Z0-9_]*(?:_<CHAIN>)?$/.test(name) || name.startsWith('<CHAIN>_')),
  );
}

/** Where the settings of both processes are. */
const SETTING_FILES = [
  'chain-watchers/settings.ts',
  'gateway/billing-provider/settings.ts',
  'gateway/http/payment/checkout-settings.ts',
  'protocol/setting-names.ts',
  'supervision/config.ts',
  'edge/config.ts',
  'edge/keystore/settings.ts',
];

/** Settings that a schema or a reader of the environment names. */
function read(): Set<string> {
  const names = new Set<string>();
  for (const { text } of filesOf(SETTING_FILES, '.ts')) {
    for (const [, name] of text.matchAll(
      /^ {2}([A-Z][A-Z0-9_]+): (?:z$|z\.|wholeNumber|tokenMinimum|port|list|flag|origin|hostSetting|pathSetting|ratesFileSetting|lineSetting)/gm,
    ))
      names.add(name!);
    for (const [, name] of text.matchAll(/\$\{chain\.toUpperCase\(\)\}_([A-Z_]+)`\]/g)) names.add(`<CHAIN>_${name}`);
    for (const [, list] of text.matchAll(/CHAIN_SETTINGS = \[([^\]]*)\]/g)) {
      for (const [, name] of list!.matchAll(/'([A-Z_]+)'/g)) names.add(`${name}_<CHAIN>`);
    }
    for (const [, name] of text.matchAll(/CHAIN_(?:SECRET|TOKEN_CAPS) = '([A-Z_]+)'/g)) names.add(`${name!}_<CHAIN>`);
    for (const [, name] of text.matchAll(/readSecret\((?:env|present), '([A-Z0-9_]+)'/g))
      for (const form of [name!, `${name}_FILE`]) names.add(form);
    for (const [, list] of text.matchAll(/IN_FILES = \[([\s\S]*?)\](?: as const)?;/g))
      for (const [, name, ofChain] of list!.matchAll(/'([A-Z_]+)'|\}_([A-Z_]+)`/g))
        names.add(`${name ?? `<CHAIN>_${ofChain!}`}_FILE`);
  }
  for (const { text } of filesOf(
    [
      'clients/cli/profiles.ts',
      'clients/cli/session.ts',
      'clients/cli/target.ts',
      'developer/options.ts',
      'developer/postgres-binaries.ts',
      'persistence/postgres/migrate.ts',
      'protocol/node/failpoint.ts',
      'protocol/node/metrics-access.ts',
    ],
    '.ts',
  )) {
    for (const [, name] of text.matchAll(/\benv(?:\.|\[')([A-Z][A-Z0-9_]+)/g)) names.add(name!);
    for (const [, fields, inFiles] of text.matchAll(/\{([^}]*)\} = (?:process\.env|(withFiles\())/g))
      for (const [name] of fields!.matchAll(/\b[A-Z][A-Z0-9_]+\b/g))
        for (const form of inFiles === undefined ? [name] : [name, `${name}_FILE`]) names.add(form);
  }
  return names;
}

test('issue 2.11: docs/configuration.md names every setting that is read, and no other', (t) => {
  const [told, known] = [documented(), read()];
  t.true(known.size > 40);
  t.true(
    CHAINS.every((chain) =>
      readFileSync(`${ROOT}docs/configuration.md`, 'utf8').includes(`\`${chain.toUpperCase()}\``),
    ),
  );
  t.deepEqual(
    [...known].filter((name) => !told.has(name)),
    [],
    'read, and not documented',
  );
  t.deepEqual(
    [...told].filter((name) => !known.has(name)),
    [],
    'documented, and read by nobody',
  );
});

test('issue 2.11: docs/configuration.md gives the defaults that the schemas have', (t) => {
  const rows = readFileSync(`${ROOT}docs/configuration.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const wrong: string[] = [];
  let compared = 0;
  for (const { text } of filesOf(SETTING_FILES, '.ts')) {
    for (const [, name, plain] of text.matchAll(/^ {2}([A-Z][A-Z0-9_]+): .*\.default\('?([\w./]+)'?\),$/gm)) {
      const told = rows.filter(([, names]) => names?.includes(`\`${name}\``)).map((cells) => cells[2]!);
      const value = plain!.replace(/_/g, '').replace('false', 'off');
      compared += 1;
      if (!told.some((cell) => cell.split(', ').some((one) => one.replace(/`/g, '') === value)))
        wrong.push(`${name}: ${value}, documented ${told.join(' / ')}`);
    }
  }
  t.true(compared > 12);
  t.deepEqual(wrong, []);
});

test('the first integration of the README is what npm start prints', (t) => {
  t.true(readFileSync(`${ROOT}README.md`, 'utf8').includes(STEPS));
});

test('every npm script that a document names exists', (t) => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
  const wrong = DOCUMENTS.flatMap(({ path, text }) =>
    [...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)]
      .filter(([, name]) => scripts[name!] === undefined)
      .map(([call]) => `${path}: ${call}`),
  );
  t.deepEqual(wrong, []);
});

test('house 3: the glossary is in order, has each word once, and every word of it is used', (t) => {
  const words = tableRows(documentText('GLOSSARY.md')).map(([word]) => word!);
  const plain = (word: string) => word.toLowerCase().replaceAll('-', ' ');
  t.true(words.length > 60);
  t.deepEqual(
    words,
    words.toSorted((a, b) => (plain(a) < plain(b) ? -1 : 1)),
  );
  t.is(new Set(words).size, words.length);
  const text = [...sources(), ...filesOf(['docs'], '.md').filter(({ path }) => path !== 'docs/GLOSSARY.md')]
    .map((file) => file.text)
    .join('\n')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_\s*/]+/g, ' ')
    .toLowerCase();
  const unused = words
    .flatMap((word) => word.split(/ \/ | \+ /))
    .filter((word) => !text.includes(plain(word.replace(/([a-z0-9])([A-Z])/g, '$1 $2'))));
  t.deepEqual(unused, []);
});
