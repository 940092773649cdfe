/** A look at open jobs: whose chain holds up whom. Treasury S28. */
import test from 'ava';
import { lookAtJobs, type JobsParts } from '../../../actors/sweep/worker.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import type { OpenJob } from '../../../model/ports/sweep-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';

const jobOn = (number: number, chain: Chain): OpenJob => ({
  accountId: `org_${String(number).padStart(3, '0')}_live` as AccountId,
  id: `swj_${number}`,
  chain,
});

/** A node with these jobs; `look` is what a job finds first. */
function nodeWith(jobs: readonly OpenJob[], look: (id: string) => Promise<null>): JobsParts {
  const openJobs = async (behind: OpenJob | null, most: number) =>
    jobs
      .filter(({ id }) => behind === null || jobs.findIndex((one) => one.id === id) > jobs.indexOf(behind))
      .slice(0, most);
  const sweeps = { openJobs, job: (_: AccountId, id: string) => look(id) };
  return { sweeps, isMine: () => true, log: { warn: () => undefined } } as never;
}

test('treasury S28: jobs of a chain that does not answer hold up none of another chain', async (t) => {
  const answers = Promise.withResolvers<null>(),
    other = Promise.withResolvers<void>();
  const looking = lookAtJobs(
    nodeWith([jobOn(1, 'sol'), jobOn(2, 'eth')], async (id) => {
      if (id === 'swj_1') return answers.promise;
      other.resolve();
      return null;
    }),
  );
  await other.promise;
  answers.resolve(null);
  await looking;
  t.pass();
});

test('treasury S28: a chain that is away is asked for three jobs of a look and not for all; one job that fails alone is passed by', async (t) => {
  const jobs = Array.from({ length: 250 }, (_, index) => jobOn(index, index % 2 === 0 ? 'sol' : 'eth'));
  const asked: string[] = [];
  await lookAtJobs(
    nodeWith(jobs, async (id) => {
      asked.push(id);
      const number = Number(id.slice(4));
      if (number % 2 === 0 || number === 3) throw new ChainUnavailable(number % 2 === 0 ? 'sol' : 'eth', 'away');
      return null;
    }),
  );
  t.deepEqual(
    asked.filter((id) => Number(id.slice(4)) % 2 === 0),
    ['swj_0', 'swj_2', 'swj_4'],
  );
  t.is(asked.length, 3 + 125);
});
