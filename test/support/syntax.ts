/** Nodes of a syntax tree of acorn. */
export interface Node {
  type: string;
  start?: number;
  end?: number;
  loc?: { start: { line: number }; end: { line: number } };
}

export const functionsIn = (node: unknown): Node[] => nodesOf(node, /Function/);

export function nodesOf(node: unknown, type: RegExp, found: Node[] = []): Node[] {
  if (Array.isArray(node)) for (const child of node) nodesOf(child, type, found);
  else if (typeof node === 'object' && node !== null && typeof (node as Node).type === 'string') {
    if (type.test((node as Node).type)) found.push(node as Node);
    for (const child of Object.values(node)) nodesOf(child, type, found);
  }
  return found;
}
