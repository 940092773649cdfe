/**
 * Builds the console: one start script, one script for each group of pages, one style sheet, all named by their
 * content. `npm run console:build` writes them to console/public; developer mode keeps them in memory.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type BuildOptions, type Metafile, type OutputFile } from 'esbuild';
import { mediaTypeOf } from './media-type.ts';

/** One file as it is served. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}
/** Files by name; `index.html` is the shell of every page. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const HERE = fileURLToPath(new URL('.', import.meta.url));
export const PUBLIC_FOLDER = join(HERE, 'public');

const [brotli, zipped] = [promisify(brotliCompress), promisify(gzip)];
const BROTLI_QUALITY = 9; // 11 takes six times as long for two hundredths

async function fileOf(name: string, body: Uint8Array): Promise<ConsoleFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  const [br, gz] = await Promise.all([brotli(body, { params }), zipped(body, { level: 9 })]);
  return { type: mediaTypeOf(name), body, br, gzip: gz };
}

/** Name of what an entry was built to, and of the scripts that it always loads. */
function startOf({ outputs }: Metafile, entry: string): { script: string; chunks: string[]; styles: string[] } {
  const [path, made] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry))!;
  return {
    script: basename(path),
    chunks: made.imports.filter(({ kind }) => kind === 'import-statement').map(({ path: chunk }) => basename(chunk)),
    styles: made.cssBundle === undefined ? [] : [basename(made.cssBundle)],
  };
}

/** Choice: the theme is a script of its own before the style, since a page that turns dark after its paint flashes. */
function shellOf(pages: Metafile, early: Metafile): string {
  const start = startOf(pages, 'app/start.tsx'),
    theme = startOf(early, 'app/theme-at-start.ts');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Flock</title>
<link rel="icon" href="${ICON}">
<script src="/console/${theme.script}"></script>
${start.styles.map((name) => `<link rel="stylesheet" href="/console/${name}">`).join('\n')}
${start.chunks.map((name) => `<link rel="modulepreload" href="/console/${name}">`).join('\n')}
<script type="module" src="/console/${start.script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console of Flock is a script that asks the public API of this server. Please allow scripts here.</noscript>
</body>
</html>
`;
}

/** Three birds in a row. In the page: a request less. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5eff"/>' +
    '<path d="M6 20c3-5 6-5 8-1 2-4 5-4 8 1M13 12c2-3 4-3 5.5-.5 1.5-2.5 3.5-2.5 5.5.5" fill="none" ' +
    'stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`;

const COMMON = {
  absWorkingDir: HERE,
  outdir: 'out',
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17'],
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** All files of the console. The same sources give the same bytes. */
export async function buildConsole(): Promise<ConsoleFiles> {
  const [pages, theme] = await Promise.all([
    build({
      ...COMMON,
      target: [...COMMON.target],
      entryPoints: ['app/start.tsx'],
      splitting: true,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    }),
    build({ ...COMMON, target: [...COMMON.target], entryPoints: ['app/theme-at-start.ts'], format: 'iife' }),
  ]);
  const outputFiles = [...pages.outputFiles, ...theme.outputFiles];
  const named: [string, Uint8Array][] = outputFiles.map(({ path, contents }: OutputFile) => [basename(path), contents]);
  named.push(['index.html', Buffer.from(shellOf(pages.metafile, theme.metafile))]);
  const files = named
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(async ([name, body]) => [name, await fileOf(name, body)] as const);
  return new Map(await Promise.all(files));
}

if (import.meta.main) {
  const files = await buildConsole();
  rmSync(PUBLIC_FOLDER, { recursive: true, force: true });
  mkdirSync(PUBLIC_FOLDER, { recursive: true });
  for (const [name, { body, br, gzip: gz }] of files) {
    writeFileSync(join(PUBLIC_FOLDER, name), body);
    writeFileSync(join(PUBLIC_FOLDER, `${name}.br`), br);
    writeFileSync(join(PUBLIC_FOLDER, `${name}.gz`), gz);
  }
  const bytes = [...files.values()].reduce((sum, { br }) => sum + br.length, 0);
  process.stdout.write(`console/public: ${files.size} files, ${Math.round(bytes / 1_000)} kB in brotli\n`);
}
