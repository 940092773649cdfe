import test from 'ava';
import fc from 'fast-check';
import { KeyFile } from '../../../../edge/keystore/key-file.ts';
import { withSources } from '../../../../edge/keystore/key-sources.ts';
import { seedOf } from '../../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../../edge/keystore/phrase-keystore.ts';
import { originOf } from '../../../../edge/keystore/source-record.ts';
import { parsePhraseSource } from '../../../../edge/keystore/source-secret.ts';
import { registerSource } from '../../../../edge/link/key-source-registration.ts';
import { addTo, newKeystorePath, OLD_PHRASE, wrapWith } from '../../../support/edge/keystores.ts';
import { PHRASE } from '../../../support/edge/edges.ts';

const BRANCH = "m/44'/60'/0'/0";

/** A keystore with a source whose operator allowed `BRANCH` up to 41; `pushed` is what the cloud was sent. */
async function branched() {
  const file = await KeyFile.create(newKeystorePath(), wrapWith());
  const { fingerprint } = await addTo(file, parsePhraseSource(OLD_PHRASE, ''), {});
  const pushed: { keys: { path?: string }[]; addresses: unknown[] }[] = [];
  const upstream = {
    signed: {
      call: async (_: string, { body }: { body: (typeof pushed)[number] }) => {
        pushed.push(body);
        return { id: 'ks_1', added: 0, skipped: 0 };
      },
    },
  };
  const allow = (to: number) =>
    registerSource(file, upstream as never, fingerprint, {
      ...{ environment: 'sandbox', chains: ['eth'], paths: [], keystore: 'file' },
      branches: [{ path: BRANCH, to }],
    });
  await allow(41);
  return { file, fingerprint, pushed, allow, keystore: withSources(createPhraseKeystore(seedOf(PHRASE, '')), file) };
}

test('migration M-K5 an edge signs under a branch that its operator allowed, up to its bound, and the cloud hears of no address', async (t) => {
  const { file, fingerprint, pushed, allow, keystore } = await branched();
  const at = (path: string) => originOf(fingerprint, path);
  for (const index of [0, 7, 41]) {
    t.is(keystore.refuseToLend!('eth', at(`${BRANCH}/${index}`)), null);
    t.is(
      keystore.withKey('eth', at(`${BRANCH}/${index}`), ({ privateKey }) => privateKey.length),
      32,
    );
  }
  t.deepEqual(
    pushed.map(({ addresses }) => addresses),
    [[]],
  );
  t.true(pushed[0]!.keys.some(({ path }) => path === "m/44'/60'/0'"));
  t.like(keystore.refuseToLend!('btc', at(`${BRANCH}/7`)), { details: { reason: 'family_not_signed' } });
  // A newer bound takes the place of the old one; it is one line, and survives the file.
  await allow(9);
  t.deepEqual(file.find(fingerprint)!.branches, [{ path: BRANCH, to: 9 }]);
  t.like(keystore.refuseToLend!('eth', at(`${BRANCH}/10`)), { details: { reason: 'address_not_registered' } });
  await file.purge(fingerprint, 0);
  t.like(keystore.refuseToLend!('eth', at(`${BRANCH}/7`)), { details: { reason: 'source_purged' } });
  file.close();
});

test('migration M-K5, M-T7 a cloud that invents or widens origins gets no signature', async (t) => {
  const { file, fingerprint, keystore } = await branched();
  const refused = (origin: string) => {
    t.throws(() => keystore.withKey('eth', origin, () => t.fail(`a key was lent for ${origin}`)), undefined, origin);
  };
  for (const path of [
    `${BRANCH}/42`,
    `${BRANCH}/7'`,
    `${BRANCH}/07`,
    `${BRANCH}/7/0`,
    `${BRANCH}`,
    `${BRANCH}/4294967303`,
    `${BRANCH}7`,
    "m/44'/60'/0'/1/7",
    "m/44'/60'/1'/0/7",
    "m/44'/61'/0'/0/7",
    'm/44/60/0/0/7',
    'm/7',
  ])
    refused(originOf(fingerprint, path));
  refused(`[${'0'.repeat(16)}/44'/60'/0'/0/7]`);
  refused(originOf(fingerprint, null));
  const step = fc.tuple(fc.nat(2 ** 32), fc.boolean()).map(([index, hard]) => `${index}${hard ? "'" : ''}`);
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 7 }), (steps) => {
      const path = ['m', ...steps].join('/');
      const isAllowed = /^m\/44'\/60'\/0'\/0\/(0|[1-9][0-9]?)$/.test(path) && Number(steps.at(-1)) <= 41;
      return (keystore.refuseToLend!('eth', originOf(fingerprint, path)) === null) === isAllowed;
    }),
  );
  file.close();
});
