/** What both sides agree on runs in a browser as well: the console and the typed client are built from it. House 3. */
import { brotliCompressSync } from 'node:zlib';
import test from 'ava';
import { build } from 'esbuild';
import { filesOf, importsOf, ROOT } from '../support/tree.ts';

/** Bytes of all of `protocol/`, minified, with zod. A limit that is seen when something large slips in. */
const BYTES_MAX = 900_000;

/** Bytes of the typed client alone, in brotli. Console C5. */
const CLIENT_BYTES_MAX = 6_000;

const files = filesOf(['protocol'], '.ts').filter(({ path }) => !path.startsWith('protocol/node/'));

test('house 3: protocol/ names nothing of Node.js outside of protocol/node/', (t) => {
  t.true(files.length > 20);
  const wrong = files.flatMap((file) => [
    ...importsOf(file)
      .filter(({ specifier, target }) => specifier.startsWith('node:') || target.startsWith('protocol/node/'))
      .map(({ specifier }) => `${file.path} imports ${specifier}`),
    ...(/\b(Buffer|process|setImmediate)\b/.test(file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g, ''))
      ? [`${file.path} uses a global of Node.js`]
      : []),
  ]);
  t.deepEqual(wrong, []);
});

const bundleOf = (contents: string) =>
  build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });

test('house 3: protocol/ is bundled for a browser', async (t) => {
  const contents = files
    .map(({ path }, index) => `import * as part${index} from './${path}'; globalThis.p${index} = part${index};`)
    .join('\n');
  const { outputFiles, warnings } = await bundleOf(contents);
  t.deepEqual(warnings, []);
  const bytes = outputFiles[0]!.contents.length;
  t.log(`protocol/ in a browser: ${Math.round(bytes / 1_000)} kB minified`);
  t.true(bytes < BYTES_MAX, `${bytes} bytes`);
});

test('console C5: the typed client is bundled without zod, without schemas, and without Node.js', async (t) => {
  const { outputFiles, warnings, metafile } = await bundleOf(
    "import { createClient } from './protocol/client.ts'; globalThis.client = createClient;",
  );
  t.deepEqual(warnings, []);
  const inputs = Object.entries(Object.values(metafile.outputs)[0]!.inputs);
  const parts = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  t.true(parts.includes('protocol/operations.ts'));
  t.deepEqual(
    parts.filter((path) => /node_modules|^protocol\/(node|schema|routes)\b/.test(path)),
    [],
  );
  const bytes = brotliCompressSync(outputFiles[0]!.contents).length;
  t.log(`the typed client in a browser: ${bytes} bytes in brotli`);
  t.true(bytes <= CLIENT_BYTES_MAX, `${bytes} bytes`);
});
