/**
 * A cloud node of the release before this one, as a real process would run it: `supervision/main.ts` of that time in
 * one file (`test/fixtures/release-before.mjs.br`), with today's packages. `npm run freeze` makes the file of the tree
 * as it is; it is run once when a release is made, so that the next one is tested beside it.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { ROOT } from './tree.ts';

const FROZEN = join(ROOT, 'test/fixtures/release-before.mjs.br');
/** In the file, the place of the tree. */
const PLACE = 'file:///flock-root/';

/** The file to start; in a folder from which packages are found. */
export function cloudOfReleaseBefore(): string {
  const packed = readFileSync(FROZEN);
  const folder = join(ROOT, 'node_modules/.cache/flock-release-before');
  const path = join(folder, `${createHash('sha256').update(packed).digest('hex').slice(0, 16)}.mjs`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const text = brotliDecompressSync(packed).toString('utf8').replaceAll(PLACE, pathToFileURL(ROOT).href);
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path); // two tests may come at once
  return path;
}

async function freeze(): Promise<void> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['supervision/main.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    keepNames: true,
    packages: 'external',
    minifyWhitespace: true,
    write: false,
    plugins: [
      {
        name: 'places of the sources',
        setup(bundle) {
          bundle.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            const place = JSON.stringify(`${PLACE}${relative(ROOT, path)}`);
            const contents = (await readFile(path, 'utf8'))
              .replaceAll('import.meta.url', place)
              .replaceAll('import.meta.main', 'false');
            return { contents, loader: 'ts', resolveDir: dirname(path) };
          });
        },
      },
    ],
  });
  writeFileSync(FROZEN, brotliCompressSync(outputFiles[0]!.text));
}

if (import.meta.main) await freeze();
