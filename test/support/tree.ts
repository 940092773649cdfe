/** The project's own source files as the tidy tests read them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join, normalize } from 'node:path';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

/** Files that git tracks or would track, below one of the folders, with one of the endings. */
export function filesOf(folders: readonly string[], ...endings: string[]): SourceFile[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return [...new Set(listed.split('\n'))]
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .flatMap((path) => {
      try {
        const text = readFileSync(join(ROOT, path), 'utf8');
        return [{ path, text, lines: text.split('\n') }];
      } catch {
        return []; // deleted and not yet committed
      }
    });
}

export const ROOMS = [
  'protocol',
  'chains',
  'actors',
  'gateway',
  'chain-watchers',
  'edge',
  'persistence',
  'cluster',
  'supervision',
  'console',
  'model',
  'developer',
  'bench',
  'clients',
  'deploy',
  'docs/site',
] as const;

/** Source files of all rooms, without tests. */
export function sources(): SourceFile[] {
  const isMade = (path: string): boolean => /\/(?:public|generated)\//.test(path) || path.endsWith('.d.ts');
  return filesOf(ROOMS, '.ts', '.tsx').filter(({ path }) => !isMade(path));
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"`;]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s+['"]([^'"]+)['"]/g;

export interface Import {
  readonly specifier: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** Imports of a file; relative ones resolved to a path from the root. */
export function importsOf(file: SourceFile): Import[] {
  return [...file.text.matchAll(IMPORT)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const target = specifier.startsWith('.') ? normalize(join(dirname(file.path), specifier)) : specifier;
    return { specifier, target, typeOnly: /^\s*(?:import|export)\s+type\b/.test(match[0].trimStart()) };
  });
}
