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

test('found F53: where all places are taken by one account, a list of another gets one; of two that have as many neither does', async (t) => {
  const lists = createLists(sql, { slots: 1, timeoutMs: 600_000 });
  const [greedy, other] = [accountOf(), accountOf()];
  const first = open();
  const running = lists.run(greedy, first.work);
  const waiting = Array.from({ length: 256 }, (_, n) => lists.run(greedy, async () => n));
  const refused = waiting.map((one) =>
    one.then(
      () => null,
      (error: unknown) => error,
    ),
  );
  const late = (await t.throwsAsync(
    lists.run(greedy, async () => 0),
    { instanceOf: Refused },
  )) as Refused;
  t.like(late.refusal, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'lists_busy' } });
  const others = Array.from({ length: 200 }, (_, n) =>
    lists
      .run(other, async () => n)
      .then(
        () => true,
        () => false,
      ),
  );
  first.end();
  await running;
  const told = await Promise.all(others);
  t.is(told.filter((isDone) => isDone).length, 128, 'half of the places');
  const ended = await Promise.all(refused);
  t.is(ended.filter((error) => error instanceof Refused).length, 128);
  t.true(
    ended.slice(0, 128).every((error) => error === null),
    'the oldest keep theirs',
  );
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
