/**
 * Where the documentation's files come from. A release has them in docs/site/public (`npm run docs:build`); developer
 * mode builds them in memory at the first request, so that nothing is ever older than its source.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const PUBLIC = fileURLToPath(new URL('public', import.meta.url));

type DocFile = (name: string) => Uint8Array | undefined;

/** The documentation of this node, made once. A build that failed is tried again by the next request. */
export function createDocs({ developerMode }: { developerMode: boolean }): () => Promise<DocFile> {
  let made: Promise<DocFile> | null = null;
  const make = async (): Promise<DocFile> => {
    if (!developerMode && existsSync(join(PUBLIC, 'index.html'))) return built();
    const { buildSite } = await import('./build.ts'); // its builder is installed for development only
    const { files } = await buildSite();
    return (name) => {
      const text = files.get(name);
      return text === undefined ? undefined : Buffer.from(text);
    };
  };
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw new Error('the documentation is not built: npm run docs:build', { cause: error });
    });
    return made;
  };
}

/** A file is read when it is asked for; a name that was not there at the start is never read. */
function built(): DocFile {
  const names = new Set(
    readdirSync(PUBLIC, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(PUBLIC, join(entry.parentPath, entry.name))),
  );
  return (name) => (names.has(name) ? readFileSync(join(PUBLIC, name)) : undefined);
}
