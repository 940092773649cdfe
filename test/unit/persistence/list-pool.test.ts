import test from 'ava';
import { createLists } from '../../../persistence/postgres/list-pool.ts';
import type { Sql } from '../../../persistence/postgres/sql.ts';
import { Refused } from '../../../protocol/errors.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';

const accountOf = () => accountIdOf(newId('org', 1), 'live');
const sql = {} as Sql; // what runs is the test's
const canceled = () =>
  Object.assign(new Error('canceling statement due to statement timeout'), { name: 'PostgresError', code: '57014' });

/** Work that ends when it is told to. */
function open() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => ended, end: () => end() };
}

test('found F53: a list that runs into its limit of time is 503 with Retry-After, another fault stays what it is', async (t) => {
  const lists = createLists(sql, { slots: 1 });
  const late = (await t.throwsAsync(
    lists.run(accountOf(), () => Promise.reject(canceled())),
    { instanceOf: Refused },
  )) as Refused;
  t.like(late.refusal, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'list_timeout', retryAfterSeconds: 1 } });
  await t.throwsAsync(
    lists.run(accountOf(), () => Promise.reject(new Error('other'))),
    { message: 'other' },
  );
  t.is(await lists.run(accountOf(), async () => 7), 7, 'its slot is free again');
});

test('found F53: a free slot goes to the account that has the fewest running: many lists of one hold up no other', async (t) => {
  const lists = createLists(sql, { slots: 2 });
  const [greedy, other] = [accountOf(), accountOf()];
  const first = [open(), open()];
  const begun: string[] = [];
  const all = [...first.map(({ work }) => lists.run(greedy, work))];
  for (let n = 0; n < 20; n += 1)
    all.push(
      lists.run(greedy, async () => {
        begun.push('greedy');
      }),
    );
  all.push(
    lists.run(other, async () => {
      begun.push('other');
    }),
  );
  first[0]!.end();
  first[1]!.end();
  await Promise.all(all);
  t.is(begun.indexOf('other'), 0);
  t.is(begun.length, 21);
});

test('found F53: a list that gets no slot in its time, or stands behind too many, is refused', async (t) => {
  const lists = createLists(sql, { slots: 1, timeoutMs: 20 });
  const held = open();
  const running = lists.run(accountOf(), held.work);
  const refused = await Promise.allSettled(Array.from({ length: 300 }, () => lists.run(accountOf(), async () => 1)));
  t.true(
    refused.every(
      (one) =>
        one.status === 'rejected' && one.reason instanceof Refused && one.reason.refusal.code === 'SERVICE_UNAVAILABLE',
    ),
  );
  t.like((refused[0] as PromiseRejectedResult).reason.refusal.details, { reason: 'lists_busy', retryAfterSeconds: 1 });
  held.end();
  await running;
  t.is(await lists.run(accountOf(), async () => 2), 2);
});
