import test from 'ava';
import { arrowsOf, circlesOf } from '../support/circles.ts';
import { filesOf, importsOf, sources } from '../support/tree.ts';

/** Who may import whom, from docs/ARCHITECTURE.md; `types` may be imported as types only. */
const MAY: Record<string, { rooms: string[]; types?: string[] }> = {
  protocol: { rooms: ['protocol', 'package.json'] },
  model: { rooms: ['protocol', 'model'], types: ['chains'] },
  chains: { rooms: ['protocol', 'chains'] },
  'actors/kernel': { rooms: ['protocol', 'model/entity', 'actors/kernel'] },
  actors: { rooms: ['protocol', 'model', 'chains', 'actors'] },
  // Commands on the database are a root of composition, like a process.
  'gateway/cli/operator': {
    rooms: [
      'protocol',
      'model',
      'chains',
      'actors/webhook/sign',
      'chain-watchers',
      'gateway',
      'persistence',
      'supervision/config',
    ],
  },
  gateway: { rooms: ['protocol', 'model', 'chains', 'gateway', 'actors'] },
  // The tracker submits again by the one way out; what an account decides is not its own.
  'chain-watchers': {
    rooms: ['protocol', 'model', 'chains', 'chain-watchers', 'actors/outgoing/submit'],
    types: ['actors/kernel'],
  },
  cluster: { rooms: ['protocol', 'model', 'actors/kernel', 'cluster'] },
  persistence: { rooms: ['protocol', 'model', 'persistence'], types: ['chains'] },
  edge: { rooms: ['protocol', 'chains', 'edge'] },
  supervision: {
    rooms: [
      'protocol',
      'model',
      'chains',
      'actors',
      'gateway',
      'chain-watchers',
      'persistence',
      'cluster',
      'supervision',
      'console/open',
      'docs/site/open',
    ],
  },
  developer: { rooms: ['protocol', 'model', 'chains', 'gateway', 'persistence', 'supervision', 'developer'] },
  console: { rooms: ['protocol', 'console'] },
  clients: { rooms: ['protocol', 'clients'] },
  deploy: { rooms: ['protocol', 'chains', 'deploy'] },
  // The builder reads what is served; what is served never reads it.
  docs: { rooms: ['protocol', 'clients', 'gateway/pages', 'docs'] },
  // The entry of the command line also names the commands of applications, which load nothing of the cloud.
  'gateway/cli': { rooms: ['protocol', 'model', 'chains', 'gateway', 'actors', 'clients/cli/commands'] },
};

const roomOf = (path: string) =>
  ['actors/kernel', 'gateway/cli/operator', 'gateway/cli'].find((room) => path.startsWith(`${room}/`)) ??
  path.split('/')[0]!;

test('style 2(a): every room imports only what its row of the table allows', (t) => {
  const wrong: string[] = [];
  for (const file of sources().filter((source) => !source.path.startsWith('bench/'))) {
    const rule = MAY[roomOf(file.path)]!;
    for (const { target, typeOnly, specifier } of importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const allowed = [...rule.rooms, ...(typeOnly ? (rule.types ?? []) : [])];
      if (!allowed.some((room) => target === room || target.startsWith(`${room}/`) || target.startsWith(`${room}.`))) {
        wrong.push(`${file.path} imports ${target}`);
      }
    }
  }
  t.deepEqual(wrong, []);
});

test('style 2(a): nact is imported by actors/kernel only', (t) => {
  const importers = sources().filter((file) => importsOf(file).some(({ specifier }) => specifier === 'nact'));
  t.true(importers.length > 0);
  t.deepEqual(
    importers
      .map((file) => file.path)
      .filter((path) => !path.startsWith('actors/kernel/') && !path.startsWith('bench/')),
    [],
  );
});

test('the cloud cannot sign: no cloud room imports edge/ or names key material', (t) => {
  const guard = new Set(['key-material', 'phrase-column', 'secret-names'].map((name) => `protocol/node/${name}.ts`));
  const wrong: string[] = [];
  for (const file of sources().filter((source) => !/^(edge|bench|developer)\//.test(source.path))) {
    if (importsOf(file).some(({ target }) => target.startsWith('edge/'))) wrong.push(`${file.path} imports edge/`);
    if (guard.has(file.path)) continue;
    file.lines.forEach((line, index) => {
      const code = line.replace(/\/\/.*|^\s*\*.*|\/\*.*?\*\//g, '');
      if (/\b(mnemonic|privateKey)\b/.test(code)) wrong.push(`${file.path}:${index + 1} ${code.trim().slice(0, 80)}`);
    });
  }
  t.deepEqual(wrong, []);
});

test("stand-ins import no chains/: what they take is read and verified by the chain's own SDK", (t) => {
  const standIns = 'developer/stand-ins/',
    files = sources().filter(({ path }) => path.startsWith(standIns));
  const borrowed = files.flatMap((file) =>
    importsOf(file)
      .filter(
        ({ target, specifier }) =>
          specifier.startsWith('.') && !target.startsWith(standIns) && !target.startsWith('protocol/'),
      )
      .map(({ target }) => `${file.path} imports ${target}`),
  );
  t.true(files.length > 0);
  t.deepEqual(borrowed, []);
});

test('every source file is imported by another or is an entry of package.json', async (t) => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const entries = Object.values(manifest.scripts).join(' ');
  const imported = new Set(sources().flatMap((file) => importsOf(file).map(({ target }) => target)));
  // Nodes and stand-ins for tests live where the demo can reach them.
  for (const file of filesOf(['test'], '.ts')) {
    for (const { target } of importsOf(file)) if (target.startsWith('developer/')) imported.add(target);
  }
  imported.add('protocol/node/webhook-signature.ts'); // what customers' applications import
  for (const entry of ['index', 'webhooks', 'units', 'testing']) imported.add(`clients/typescript/src/${entry}.ts`);
  const spawned = sources()
    .map((file) => file.text)
    .join('\n');
  const orphans = sources()
    .map((file) => file.path)
    .filter((path) => !imported.has(path) && !entries.includes(path) && !path.startsWith('bench/'))
    .filter((path) => !spawned.includes(`/${path.split('/').slice(-1)[0]!}'`) && !spawned.includes(path));
  t.deepEqual(orphans, []);
});

test('house 10: no circle of files, types included', (t) => {
  t.deepEqual(circlesOf(arrowsOf(sources().filter(({ path }) => !path.startsWith('bench/')))), []);
  t.deepEqual(
    circlesOf(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['a', 'd']],
        ['d', []],
      ]),
    ),
    [['a', 'b', 'c']],
  );
});
