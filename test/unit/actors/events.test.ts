import test from 'ava';
import { envelopeOf } from '../../../protocol/schema/events.ts';
import { commands, enrolled, OTHER_IDENTITY, pushedKey, pushedPool } from '../../support/account.ts';

test('§6 what an account publishes of itself is in the form of the catalogue, each id once', (t) => {
  const account = enrolled({}, { keys: [pushedKey('evm')], pools: [pushedPool('xlm', 5)] });
  const stock = pushedPool('xlm', 5).addresses;
  for (let issued = 0; issued < 5; issued += 1)
    account.accept(commands.createAddress({ chain: 'xlm', unissued: stock }));
  for (const liveness of ['live', 'down', 'live', 'down'] as const) account.accept({ type: 'note_liveness', liveness });
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  const published = account.published(); // throws for one that is not in form
  t.deepEqual(
    published.map(({ event }) => event),
    ['pool_low', 'edge_offline', 'edge_online', 'edge_offline', 'identity_rotation_detected'],
  );
  t.is(new Set(published.map(({ id }) => id)).size, 5);
  t.false(envelopeOf('pool_low').safeParse({ ...published[0], data: {} }).success);
});

test('§5.10 an event names identities by fingerprint, never a key', (t) => {
  const account = enrolled();
  account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  const body = JSON.stringify(account.published());
  for (const secret of [OTHER_IDENTITY, pushedKey('evm', 1).xpub, pushedKey('evm').xpub]) {
    t.false(body.includes(secret));
  }
});
