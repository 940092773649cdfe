import test from 'ava';
import { exampleOfFailure } from '../../gateway/pages/examples.ts';
import { ERRORS, type ErrorCode } from '../../protocol/errors.ts';
import { DETAILS } from '../../protocol/schema/details.ts';
import { codesIn, documentText, sectionOf, tableRows } from '../support/documents.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

test('house 7: every code of the error table has a schema of its details, in the order of the table', (t) => {
  t.deepEqual(Object.keys(DETAILS), CODES);
});

test('house 7: the details that the description shows of a code are those of its schema', (t) => {
  for (const code of CODES) {
    const { error } = exampleOfFailure(code) as { error: { details: object } };
    const schema = code === 'NOT_FOUND' ? DETAILS[code] : DETAILS[code].strict();
    t.deepEqual(schema.safeParse(error.details).error?.issues ?? [], [], code);
  }
});

/** Names of a schema, and of what is in it. */
function namesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { shape, element, options, def } = schema as {
    readonly shape?: object;
    readonly element?: unknown;
    readonly options?: readonly unknown[];
    readonly def?: { readonly innerType?: unknown };
  };
  return [
    ...Object.entries<unknown>({ ...shape }).flatMap(([name, of]) => [name, ...namesOf(of)]),
    ...[element, def?.innerType, ...(options ?? [])].flatMap(namesOf),
  ];
}

test('house 3: the errors page names no detail of a code that its schema does not have', (t) => {
  t.true(namesOf(DETAILS.INVALID_AMOUNT).includes('decimals'), 'members of members count');
  const rows = tableRows(sectionOf(documentText('errors.md'), '## Codes'));
  const unknown = rows.flatMap(([, code, , details]) => {
    const [name] = codesIn(code!) as ErrorCode[],
      known = new Set(namesOf(DETAILS[name!]));
    return codesIn(details!.replace('header `Allow`', ''))
      .filter((one) => !known.has(one))
      .map((one) => `${name} ${one}`);
  });
  t.deepEqual(unknown, []);
});

test('ecosystem X39 the errors page says of each code what to do next, and names a detail where there is one', (t) => {
  const rows = tableRows(sectionOf(documentText('errors.md'), '## Codes'));
  t.true(rows.length > 50);
  for (const [, code, , details, next] of rows) {
    const [name] = codesIn(code!) as ErrorCode[];
    t.not(next!.trim(), '', `${name}: next step`);
    if (namesOf(DETAILS[name!]).length > 0) t.true(codesIn(details!).length > 0, `${name}: details`);
  }
});
