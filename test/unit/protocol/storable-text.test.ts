/** What a request may have in it that no table takes: refused by its field, and not by the store as a fault of ours. */
import test from 'ava';
import { z } from 'zod';
import { ROUTES } from '../../../protocol/routes.ts';

/** Hashed, sealed, parsed or compared before anything is stored or asked for. */
const NEVER_STORED =
  /\.(?:password|current|clientSecret)$|^(?:setSamlConnection\.metadata|finishSso\.(?:code|iss|error)|discover\.userRefMappingCsv)$/;

test('U+0000 and half of a surrogate pair are refused in every text of a body', (t) => {
  const taken = Object.entries(ROUTES).flatMap(([operation, route]) => {
    const shape = (route as { body?: { shape?: Record<string, z.ZodType> } }).body?.shape ?? {};
    return Object.entries(shape)
      .filter(([, field]) => ['a\u0000', 'a\ud800'].some((text) => field.safeParse(text).success))
      .map(([name]) => `${operation}.${name}`);
  });
  t.deepEqual(
    taken.filter((name) => !NEVER_STORED.test(name)),
    [],
  );
  t.true(taken.length > 3, 'bodies are looked into');
});
