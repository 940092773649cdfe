/** Files that reach each other by their imports, types included. */
import { importsOf, type SourceFile } from './tree.ts';

/** From each file to the files that it imports. */
export function arrowsOf(files: readonly SourceFile[]): Map<string, readonly string[]> {
  return new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ target }) => target),
    ]),
  );
}

/** Groups of files that reach each other (Tarjan). */
export function circlesOf(arrows: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>(),
    low = new Map<string, number>(),
    path: string[] = [],
    found: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    path.push(file);
    for (const next of arrows.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (path.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = path.splice(path.indexOf(file));
    if (group.length > 1) found.push(group.sort());
  };
  for (const file of arrows.keys()) if (!order.has(file)) visit(file);
  return found;
}
