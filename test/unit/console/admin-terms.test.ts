/** Terms of a custom band are entered whole. Console B13. */
import test from 'ava';
import { TERMS, termsOf } from '../../../console/pages/admin-terms.ts';

const WHOLE = Object.fromEntries(TERMS.map(([name], at) => [name, ` ${at} `]));

test('console B13: terms of a custom band are sent whole or not at all; a field that was left out is no zero', (t) => {
  t.deepEqual(termsOf({}), {});
  t.deepEqual(termsOf(Object.fromEntries(TERMS.map(([name]) => [name, '']))), {});
  t.deepEqual(termsOf(WHOLE), { terms: Object.fromEntries(TERMS.map(([name], at) => [name, at])) as never });
  for (const [name] of TERMS)
    for (const wrong of ['', '1.5', '-1', '1e3', 'x'])
      t.like(
        termsOf({ ...WHOLE, [name]: wrong }),
        { code: 'INVALID_INPUT', details: { field: name } },
        `${name} ${wrong}`,
      );
});
