import test from 'ava';
import { exampleOfFailure } from '../../gateway/pages/examples.ts';
import { ERRORS, type ErrorCode } from '../../protocol/errors.ts';
import { DETAILS } from '../../protocol/schema/details.ts';

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
