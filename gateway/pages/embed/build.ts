/**
 * Builds `<flock-pay>`: `npm run -s embed:build` writes it to kept/ under its hash. What was released once stays there
 * for two years, since pages pin it by its bytes. The same sources give the same bytes. payments E2.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { elementWords } from './words.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LICENCE_NOTE = '/* <flock-pay>; with noble-curves and uqr, MIT */';

/** The script as it is served. */
export async function buildElement(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    entryPoints: ['element/flock-pay.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: LICENCE_NOTE },
    define: { WORDS: JSON.stringify(elementWords()) },
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

if (import.meta.main) {
  const script = await buildElement(),
    name = createHash('sha256').update(script).digest('hex').slice(0, 16);
  writeFileSync(`${HERE}kept/${name}.js`, script);
  process.stdout.write(`${name} sha384-${createHash('sha384').update(script).digest('base64')}\n`);
}
