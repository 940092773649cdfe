/**
 * `npm run -s clients:pack [-- FOLDER]`: builds `flock-client` and packs it; the same tree gives the same bytes. Each
 * entry is one file of its own, so that a program carries what it imports.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const ROOT = join(HERE, '../..');
export const ENTRIES = ['index', 'webhooks', 'units', 'testing'] as const;

/** npm packs the modes that it finds, which are those that the umask of who packs left. X70. */
function readable(folder: string): void {
  for (const one of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(join(one.parentPath, one.name), one.isDirectory() ? 0o755 : 0o644);
}

/** Builds and packs into `place`; the tarball's path. Throws: what esbuild, the compiler or npm refuse. */
export function packTypescript(place: string): string {
  const folder = resolve(place); // npm packs from another directory, where a relative one would be another
  const work = mkdtempSync(join(tmpdir(), 'flock-client-'));
  try {
    const dist = join(work, 'package/dist');
    buildSync({
      absWorkingDir: HERE,
      entryPoints: ENTRIES.map((name) => `src/${name}.ts`),
      outdir: dist,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      legalComments: 'none',
      logLevel: 'error',
    });
    const declarations = join(work, 'declarations');
    execFileSync(
      process.execPath,
      [
        join(ROOT, 'node_modules/typescript/bin/tsc'),
        ...['-p', HERE, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--allowImportingTsExtensions'],
        ...['--rootDir', ROOT, '--outDir', declarations],
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const made = join(declarations, 'clients/typescript/src');
    for (const name of readdirSync(made, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.d.ts'),
    )) {
      mkdirSync(dirname(join(dist, name)), { recursive: true });
      const text = readFileSync(join(made, name), 'utf8');
      writeFileSync(join(dist, name), text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    }
    for (const name of ['package.json', 'README.md']) copyFileSync(join(HERE, name), join(work, 'package', name));
    copyFileSync(join(ROOT, 'LICENSE'), join(work, 'package/LICENSE'));
    readable(join(work, 'package'));
    mkdirSync(folder, { recursive: true });
    const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: join(work, 'package'),
      encoding: 'utf8',
    });
    return join(folder, name.trim());
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.main) process.stdout.write(`${packTypescript(process.argv[2] ?? process.cwd())}\n`);
