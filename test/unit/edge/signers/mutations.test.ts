/** A small share of `npm run soak -- --mutations 80000`, of each family. found F13, V31. */
import test from 'ava';
import { FAMILY_CHAINS } from '../../../support/edge/families.ts';
import { mutate } from '../../../support/edge/mutations.ts';

const TRIES = 400;
/** The day of the run: another one each day, and the same one again where it fails. */
const SEED = Math.floor(Date.now() / 86_400_000);

for (const chain of FAMILY_CHAINS) {
  test(`V31 property: a payload or summary that was changed at random gets no signature, or moves the same to the same: ${chain}`, async (t) => {
    const { tried, refused, same, wrong } = await mutate(chain, TRIES, SEED);
    t.deepEqual(wrong, [], `npm run soak -- --mutations ${TRIES * FAMILY_CHAINS.length} --from ${SEED}`);
    t.is(tried, TRIES);
    t.true(refused > TRIES / 2, `${refused} refused, ${same} the same`);
  });
}
