/** Stories over the real functions; `npm run soak -- --sql` tells more of them. */
import test from 'ava';
import { tellSqlStory } from './sql-story.ts';

const SEEDS = [1] as const;
const STEPS = 80;

for (const seed of SEEDS) {
  test.serial(
    `over the real functions: seed ${seed}, ${STEPS} steps: every check holds at each event, and all comes to rest`,
    async (t) => {
      const { violation, lines, counts } = await tellSqlStory({ seed, steps: STEPS });
      t.is(violation, null, lines.slice(-30).join('\n'));
      t.true(
        counts.published > 10 && counts.attempts >= 2 * counts.published && counts.epoch > 0,
        JSON.stringify(counts),
      );
    },
  );
}

test.serial('over the real functions one seed is one story, bit by bit', async (t) => {
  const [first, again] = [await tellSqlStory({ seed: 2, steps: 40 }), await tellSqlStory({ seed: 2, steps: 40 })];
  t.is(first.violation, null, first.lines.slice(-30).join('\n'));
  t.deepEqual(again, first);
});
