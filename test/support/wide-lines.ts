/** Lines that are too wide, and could be narrower. */
import { stripTypeScriptTypes } from 'node:module';
import { parse } from 'acorn';
import { nodesOf } from './syntax.ts';
import type { SourceFile } from './tree.ts';

export const COLUMNS_MAX = 120;
/** A literal of this many characters cannot be put on a narrower line. */
const LITERAL = 40;

/** Lines that a string, a template or a regular expression crosses for so long that no line break can narrow them. */
function unbreakable(text: string): Set<number> {
  const lines = new Set<number>();
  const tree = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  for (const { loc, start, end } of nodesOf(tree, /^(?:Literal|TemplateLiteral)$/)) {
    if (end! - start! < LITERAL) continue;
    for (let line = loc!.start.line; line <= loc!.end.line; line += 1) lines.add(line);
  }
  return lines;
}

/** `path:line` of every line beyond `COLUMNS_MAX` columns that no single literal makes so wide. */
export function wideLines(files: readonly SourceFile[]): string[] {
  const written = files.filter(({ path }) => !path.includes('/generated/'));
  return written.flatMap((file) => {
    const lines = file.lines.map((line, at) => [line, at + 1] as const).filter(([line]) => line.length > COLUMNS_MAX);
    if (lines.length === 0) return [];
    const literal = unbreakable(file.text);
    return lines.filter(([, at]) => !literal.has(at)).map(([, at]) => `${file.path}:${at}`);
  });
}
