/** What both sides agree on runs in a browser as well: the console and the typed client are built from it. House 3. */
import test from 'ava';
import { build } from 'esbuild';
import { filesOf, importsOf, ROOT } from '../support/tree.ts';

/** Bytes of all of `protocol/`, minified, with zod. A limit that is seen when something large slips in. */
const BYTES_MAX = 600_000;

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

test('house 3: protocol/ is bundled for a browser', async (t) => {
  const contents = files
    .map(({ path }, index) => `import * as part${index} from './${path}'; globalThis.p${index} = part${index};`)
    .join('\n');
  const { outputFiles, warnings } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  t.deepEqual(warnings, []);
  const bytes = outputFiles[0]!.contents.length;
  t.log(`protocol/ in a browser: ${Math.round(bytes / 1_000)} kB minified`);
  t.true(bytes < BYTES_MAX, `${bytes} bytes`);
});
