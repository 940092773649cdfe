/**
 * Where the console's files come from. A release has them in console/public (`npm run console:build`); developer mode
 * builds them in memory at the first request, so that nothing is ever older than its source.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mediaTypeOf } from './media-type.ts';
import type { ConsoleFiles } from './build.ts';

const PUBLIC = fileURLToPath(new URL('public', import.meta.url));

/** The console of this node, made once. A build that failed is tried again by the next request. */
export function createConsole({ developerMode }: { developerMode: boolean }): () => Promise<ConsoleFiles> {
  let made: Promise<ConsoleFiles> | null = null;
  const make = async (): Promise<ConsoleFiles> => {
    if (!developerMode && existsSync(join(PUBLIC, 'index.html'))) return built();
    const { buildConsole } = await import('./build.ts'); // its builder is installed for development only
    return buildConsole();
  };
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw new Error('the console is not built: npm run console:build', { cause: error });
    });
    return made;
  };
}

function built(): ConsoleFiles {
  const names = readdirSync(PUBLIC).filter((name) => !/\.(br|gz)$/.test(name));
  const read = (name: string) => readFileSync(join(PUBLIC, name));
  return new Map(
    names.map((name) => [
      name,
      { type: mediaTypeOf(name), body: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) },
    ]),
  );
}
