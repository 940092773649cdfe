import test from 'ava';
import fc from 'fast-check';
import { cursorOf, cursorText, LISTS, pageAskOf, slicePage } from '../../../protocol/cursor.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { Page, PageAsk } from '../../../protocol/page.ts';

const key = fc
  .string({ unit: 'grapheme', maxLength: 60 })
  .filter((text) => text.isWellFormed() && !text.includes('\u0000'));

test('found F46: a cursor comes back as it was made, and is no cursor of another list', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('webhooks', 'sessions', 'members' as const),
      key,
      fc.integer({ min: 1, max: 1e9 }),
      (list, text, page) => {
        const cursor = cursorText(list, { page, key: text });
        t.regex(cursor, /^[A-Za-z0-9_-]+$/);
        t.deepEqual(cursorOf(list, cursor), { page, key: text });
        for (const other of LISTS) if (other !== list) t.is(cursorOf(other, cursor), null);
      },
    ),
  );
});

test('found F46: any other text is refused with the field and what to send', (t) => {
  const texts = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.json().map((json) => btoa(encodeURIComponent(json))),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const ask = pageAskOf('addresses', { size: 20, after: text });
      t.true(
        isRefusal(ask) && ask.code === 'INVALID_INPUT' && (ask.details as { field?: string }).field === 'query.after',
      );
    }),
  );
  for (const bad of ['adr_', 'adr_0', `adr_${'a'.repeat(27)}`, "adr_' or true --"])
    t.is(cursorOf('addresses', cursorText('addresses', { page: 1, key: bad })), null);
  for (const bad of [
    '1.adr_aaaaaaaaaaaaaaaaaaaaaaaaaa',
    '-1.dep_aaaaaaaaaaaaaaaaaaaaaaaaaa',
    `${'9'.repeat(17)}.dep_aaaaaaaaaaaaaaaaaaaaaaaaaa`,
    'dep_aaaaaaaaaaaaaaaaaaaaaaaaaa',
  ]) {
    t.is(cursorOf('transactions', cursorText('transactions', { page: 1, key: bad })), null);
  }
});

test('found F46: a short list is walked without gap or repetition while its rows come and go', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(500), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom('ascending' as const, 'newest' as const),
      (start, changes, size, order) => {
        const rows = new Set(start),
          touched = new Set<number>(),
          seen: number[] = [];
        const queue = [...changes];
        let ask: PageAsk = { page: 0, size };
        for (;;) {
          const page: Page<number> = slicePage('webhooks', [...rows], ask, (n) => String(n).padStart(4, '0'), order);
          seen.push(...page.content);
          t.is(page.totalElements, rows.size);
          if (page.next === null) break;
          ask = { after: cursorOf('webhooks', page.next)!, size };
          const change = queue.shift();
          if (change === undefined) continue;
          touched.add(change);
          if (!rows.delete(change)) rows.add(change);
        }
        t.is(new Set(seen).size, seen.length);
        const steady = start.filter((n) => !touched.has(n)).sort((a, b) => (order === 'ascending' ? a - b : b - a));
        t.deepEqual(
          seen.filter((n) => !touched.has(n)),
          steady,
        );
      },
    ),
  );
});
