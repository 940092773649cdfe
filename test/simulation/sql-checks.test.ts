/**
 * Each check that only the real functions can break finds the fault of found.md that is planted for it in these
 * functions.
 */
import test from 'ava';
import { SQL_CHECKS } from './checks.ts';
import { faulty } from './faulty.ts';
import { tellSqlStory, type SqlStoryOptions } from './sql-story.ts';

const SEEDS_MAX = 4;
const STEPS = 40;

const PLANTS: Readonly<
  Record<
    (typeof SQL_CHECKS)[number],
    { readonly what: string } & Pick<SqlStoryOptions, 'planted' | 'callersClock' | 'faults'>
  >
> = {
  'bounded statement': {
    what: 'F55: an endpoint that is deleted with all that waits for it in one statement',
    faults: ['neighbourDeletes'],
    planted: faulty('stop_endpoint', ['1000', '1000000']),
  },
  'due in time': { what: 'F56: the clock of a node decides what is due', faults: ['cloudClock'], callersClock: true },
  'innocent first': {
    what: 'F59: a group that waits for the lock of one of its accounts',
    faults: ['neighbourLocked'],
    planted: faulty(
      'append_accounts',
      [' skip locked', ''],
      [
        'perform check_batch(batch, asked);',
        "perform set_config('lock_timeout', '5s', true); perform check_batch(batch, asked);",
      ],
    ),
  },
  'granted epoch': {
    what: 'F60: whoever says a higher epoch takes an account',
    faults: ['intruder'],
    planted: faulty('activate_account', ['and epoch = (select s.epoch from shard s where s.id = a.shard_id)', '']),
  },
};

test.serial('without a plant the same faults pass', async (t) => {
  const faults = SQL_CHECKS.flatMap((check) => PLANTS[check].faults ?? []);
  t.is(faults.length, SQL_CHECKS.length);
  const { violation, lines } = await tellSqlStory({ seed: 1, steps: STEPS, faults });
  t.is(violation, null, lines.join('\n'));
  for (const text of ['locks the account', 'deletes its endpoint', 'nobody granted', 'the clock of the cloud'])
    t.true(
      lines.some((line) => line.includes(text)),
      text,
    );
});

for (const check of SQL_CHECKS) {
  const { what, ...plant } = PLANTS[check];
  test.serial(`the check "${check}" finds ${what}`, async (t) => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS_MAX && found.length === 0; seed += 1) {
      const { violation } = await tellSqlStory({ seed, steps: STEPS, ...plant });
      if (violation !== null) found.push(violation.check);
    }
    t.deepEqual(found, [check]);
  });
}
