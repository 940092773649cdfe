/**
 * Watchers before two endpoints of which one reports falsely or hides, with a block that stays unreadable, in memory
 * and over the real functions. What is planted is found.
 */
import test from 'ava';
import { runHistory, type HistoryOptions } from '../support/history.ts';
import { faulty } from './faulty.ts';
import { runSqlHistory, type SqlHistoryOptions } from './sql-history.ts';

const SEEDS = 40;
const STEPS = 70;
const SQL_SEEDS = 2;
const SQL_STEPS = 40;
const PLANT_SEEDS = 12;

const HISTORY = { liar: true, unreadable: true } as const;

test.serial(
  'reliability 4.1-13 found F73: one of two endpoints reports falsely or hides: nothing false is told, each payment is credited once',
  async (t) => {
    for (let seed = 0; seed < SEEDS; seed += 1)
      t.deepEqual(await runHistory({ ...HISTORY, seed, steps: STEPS }), [], `seed ${seed}`);
  },
);

test.serial(
  'over the real functions: a liar, an intruder and a block that stays unreadable: nothing false is told, each payment is credited once',
  async (t) => {
    for (let seed = 0; seed < SQL_SEEDS; seed += 1)
      t.deepEqual(await runSqlHistory({ ...HISTORY, intruder: true, seed, steps: SQL_STEPS }), [], `seed ${seed}`);
  },
);

/** What the first seed that goes wrong finds. */
async function foundBy<Options extends HistoryOptions>(
  run: (options: Options) => Promise<string[]>,
  options: Omit<Options, 'seed'>,
): Promise<string> {
  for (let seed = 0; seed < PLANT_SEEDS; seed += 1) {
    const wrong = await run({ ...options, seed } as Options);
    if (wrong.length > 0) return wrong.join('; ');
  }
  return 'nothing';
}

test.serial(
  'planted: an endpoint that is believed alone tells false amounts and hides payments, and the checks say so',
  async (t) => {
    t.regex(
      await foundBy(runHistory, { ...HISTORY, steps: STEPS, plant: { believesOne: true } }),
      /is told as|is credited 0 instead of/,
    );
  },
);

const SQL_PLANTS: readonly (readonly [
  what: string,
  finds: RegExp,
  options: Omit<SqlHistoryOptions, 'seed' | 'steps'>,
])[] = [
  [
    'F50: an unreadable block anywhere keeps reversals from being decided',
    /and not on the chain/,
    {
      unreadable: true,
      planted: faulty('settle_displaced', [' and u.height > above and u.height <= until', '']),
    },
  ],
  [
    'F73: an endpoint that is believed alone',
    /is told as|is credited 0 instead of/,
    { ...HISTORY, plant: { believesOne: true } },
  ],
  [
    'F60: whoever says so makes a fact mature',
    /matured too early/,
    {
      intruder: true,
      planted: faulty('mature_facts', [`\n       and r."confirmations" >= (f.transfer ->> 'threshold')::int`, '']),
    },
  ],
  [
    'F60: whoever names a fork that nobody recorded replaces blocks',
    /is told as gone/,
    {
      intruder: true,
      planted: faulty('check_fork', ['begin\n  if exists', 'begin\n  return;\n  if exists']),
    },
  ],
];

for (const [what, finds, options] of SQL_PLANTS) {
  test.serial(`planted in the functions: ${what}, and the checks say so`, async (t) => {
    t.regex(await foundBy(runSqlHistory, { ...options, steps: SQL_STEPS }), finds);
  });
}
