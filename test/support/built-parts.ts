/**
 * Cloud, edge and the edge's command line, each as one bundled file that starts in half the time of a thousand modules;
 * for tests that start many processes. Built once for one content of the tree and kept in node_modules/.cache. Tests of
 * a start itself (`npm start`, parts, durability, full disk) run the sources. TEST_PARTS=sources has all of them do so.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SOURCE_ENTRIES, type Entries } from '../../developer/deployment.ts';
import { filesOf, ROOMS, ROOT } from './tree.ts';

const FOLDER = join(ROOT, 'node_modules/.cache/flock-parts');
const POLL_MS = 50;
const BUILD_MS = 240_000;
const KEPT_MS = 24 * 3_600_000;
/** Native code, found beside itself; and what builds the console. */
const NATIVE = ['esbuild', 'koffi', '@node-rs/argon2', 'secp256k1', 'bufferutil', 'utf-8-validate'];
/** What was written for CommonJS asks for Node's modules by this name. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;

const entriesBelow = (folder: string): Entries => ({
  cloud: join(folder, 'supervision/main.js'),
  edge: join(folder, 'edge/main.js'),
  edgeCommand: join(folder, 'edge/cli/flock-edge.js'),
});

let built: Promise<Entries> | null = null;

/** Entries of the bundles of this content; whoever comes first builds them. Throws: Error when that failed. */
export function partEntries(): Promise<Entries> {
  if (process.env['TEST_PARTS'] === 'sources') return Promise.resolve(SOURCE_ENTRIES);
  built ??= find();
  return built;
}

async function find(): Promise<Entries> {
  const hash = createHash('sha256')
    .update(process.version)
    .update(readFileSync(join(ROOT, 'package-lock.json')));
  for (const file of [import.meta.filename]) hash.update(readFileSync(file));
  for (const { path, text } of filesOf(ROOMS, '.ts', '.json')) hash.update(`${path}\0${text}\0`);
  const folder = join(FOLDER, hash.digest('hex').slice(0, 16));
  const deadline = performance.now() + BUILD_MS;
  while (!existsSync(folder)) {
    if (performance.now() > deadline) throw new Error(`no bundles in ${folder} after ${BUILD_MS} ms`);
    // Of one run, one builds: AVA's process is the parent of all. Another run builds for itself.
    const own = `${folder}.${process.ppid}`;
    if (claimed(own)) await build(own, folder);
    else await delay(POLL_MS);
  }
  return entriesBelow(folder);
}

function claimed(folder: string): boolean {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > (name.includes('.') ? BUILD_MS : KEPT_MS)) rmSync(path, { recursive: true, force: true });
  }
  return mkdirSync(folder, { recursive: true }) !== undefined;
}

async function build(own: string, folder: string): Promise<void> {
  const { build } = await import('esbuild');
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: [SOURCE_ENTRIES.cloud, SOURCE_ENTRIES.edge, SOURCE_ENTRIES.edgeCommand],
      outdir: own,
      outbase: ROOT,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      keepNames: true,
      sourcemap: 'linked',
      sourcesContent: false,
      external: NATIVE,
      banner: { js: REQUIRE },
      logLevel: 'silent',
      plugins: [
        {
          name: 'places of the sources',
          setup(bundle) {
            bundle.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
              const text = await readFile(path, 'utf8');
              if (!text.includes('import.meta')) return { contents: text, loader: 'ts', resolveDir: dirname(path) };
              const contents = text
                .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
                .replaceAll('import.meta.main', 'false');
              return { contents, loader: 'ts', resolveDir: dirname(path) };
            });
          },
        },
      ],
    });
    // Without it each start parses the bundle once more to find out that it is a module.
    writeFileSync(join(own, 'package.json'), '{"type":"module"}\n');
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // another run was faster
  }
}
