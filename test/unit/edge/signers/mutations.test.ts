/** A small share of `npm run soak -- --mutations 80000`, of each family. found F13, V31. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Unsigned } from '../../../../chains/chain.ts';
import { refuse } from '../../../../protocol/errors.ts';
import { FAMILY_CHAINS, unsignedFor, type FamilyChain, type FamilyWish } from '../../../support/edge/families.ts';
import { readOutside } from '../../../support/edge/outside-readers.ts';
import { mutate } from '../../../support/edge/mutations.ts';

const TRIES = 400;
const BUILT_MS = 1_800_000_000_000;
/** That of the run's properties, see test/support/property-seed.mjs. */
const SEED = Number(process.env.FLOCK_PROPERTY_SEED ?? 20_787);

for (const chain of FAMILY_CHAINS) {
  test(`V31 property: a payload or summary that was changed at random gets no signature, or moves the same to the same: ${chain}`, async (t) => {
    const { tried, refused, same, wrong } = await mutate(chain, TRIES, SEED);
    t.deepEqual(wrong, [], `npm run soak -- --mutations ${TRIES * FAMILY_CHAINS.length} --from ${SEED}`);
    t.is(tried, TRIES);
    t.true(refused > TRIES / 2, `${refused} refused, ${same} the same`);
  });
}

const built = async (chain: FamilyChain, more: Partial<FamilyWish>) => unsignedFor({ chain, ...more }, 0, BUILT_MS);
/** Another receiver of each chain: whoever a liar would name. */
const THIEVES: Readonly<Record<FamilyChain, string>> = {
  btc: 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
  eth: '0x00000000000000000000000000000000DeaDBeef',
  tron: 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7',
  sol: 'So11111111111111111111111111111111111111112',
  xrp: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  xlm: 'GCEZWKCA5VLDNRLN3RPRJMRZOX3Z6G5CHCGSNFHEYVXM3XOJMDS674JZ',
};

for (const chain of FAMILY_CHAINS) {
  test(`V31 found: planted, the outside reader of ${chain} sees another receiver and another amount, and no payment in what it does not read`, async (t) => {
    const honest = await built(chain, {}),
      read = ({ payload }: Unsigned) => readOutside(chain, payload, honest.from);
    t.is(read(await built(chain, {})), read(honest));
    t.not(read(await built(chain, { to: THIEVES[chain] })), read(honest));
    t.not(read(await built(chain, { amount: honest.amount + 1n })), read(honest));
    t.throws(() => read({ ...honest, payload: honest.payload.slice(0, -8) }));
  });

  test(`V31 found: planted, a signer that takes whatever decodes, or looks at the summary alone, is found out: ${chain}`, async (t) => {
    const { wrong } = await mutate(chain, TRIES, SEED, () => null);
    t.not(wrong.length, 0, 'it takes everything');
    const blind = await mutate(chain, TRIES, SEED, (_network, unsigned, { to, amount, from }) =>
      unsigned.to === to && unsigned.amount === amount && unsigned.from === from
        ? null
        : refuse('SIGNED_BATCH_REJECTED'),
    );
    t.not(blind.wrong.length, 0, 'it looks at the summary alone');
  });
}

test('V31 the outside readers read by nothing of ours but the names of chains', (t) => {
  const text = readFileSync(new URL('../../../support/edge/outside-readers.ts', import.meta.url), 'utf8');
  const ours = [...text.matchAll(/^(import (?:type )?).* from '(\.[^']*)'/gm)].map(([, kind, path]) => [
    kind!.trim(),
    path,
  ]);
  t.deepEqual(ours, [['import type', './families.ts']]);
});
