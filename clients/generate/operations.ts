/** Where each operation is asked, for callers that carry no schemas: `protocol/operations.ts`, of the route table. */
import { ROUTES } from '../../protocol/routes.ts';
import type { Route } from '../../protocol/route.ts';

const FILE = 'protocol/operations.ts';

/** The file by its path from the root. */
export function operationFiles(): [string, string][] {
  const lines = Object.entries(ROUTES as Readonly<Record<string, Route>>).map(
    ([id, { method, path, bare }]) => `  ${id}: '${method} ${path}${bare === undefined ? '' : ' bare'}',`,
  );
  return [
    [
      FILE,
      `// Made of the route table by \`npm run -s clients\`; protocol/place.ts reads it.
export const OPERATIONS = {
${lines.join('\n')}
} as const;
`,
    ],
  ];
}
