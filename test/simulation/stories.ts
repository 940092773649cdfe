/** The test of a range of seeds, shared by the files that divide them among the processes of the test runner. */
import test from 'ava';
import { runStory } from './story.ts';

const STEPS = 500;

/** Declares a test for each seed from `from` to before `to`. Serial: a story has the globals of its process. */
export function testStories(from: number, to: number): void {
  for (let seed = from; seed < to; seed += 1) {
    test.serial(
      `issue 4: seed ${seed}, ${STEPS} steps: every check holds at each event, and all comes to rest`,
      async (t) => {
        const { violation, lines, counts } = await runStory({ seed, steps: STEPS });
        t.is(violation, null, lines.slice(-30).join('\n'));
        t.true(
          counts.published > 50 && counts.attempts >= 2 * counts.published && counts.epoch > 0,
          JSON.stringify(counts),
        );
      },
    );
  }
}
