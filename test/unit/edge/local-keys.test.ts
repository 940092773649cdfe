import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createIdentity, publicKeyOf } from '../../../edge/link/identity.ts';
import { judgeRecord, recordText, signRecord } from '../../../edge/local-keys/record.ts';
import { LocalKeyShare } from '../../../edge/local-keys/share.ts';
import { LOCAL_KEYS_MAX, LocalKeys, MINTED_DEPTH_MAX, type MintedKey } from '../../../edge/local-keys/local-keys.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import type { EdgeLog } from '../../../edge/process/log.ts';
import type { Storage } from '../../../edge/storage/storage.ts';
import { localKeyRecord, type LocalKeyRecord } from '../../../protocol/frames.ts';
import { newStorage } from '../../support/edge/disk.ts';

const identity = createIdentity(randomBytes(32));
const identityKey = publicKeyOf(identity.publicKey);
const stranger = createIdentity(randomBytes(32));

function newKeys(environment: Environment = 'live', storage: Storage = newStorage()): LocalKeys {
  return new LocalKeys(storage, environment, () => 1_700_000_000_000);
}

function mint(keys: LocalKeys, label = 'shop'): MintedKey {
  const minted = keys.mint({ label });
  if ('ok' in minted) throw new Error(minted.code);
  return minted;
}

test('§2.8 a minted key is shown once, begins with its environment, and only its hash is stored', (t) => {
  const storage = newStorage();
  const keys = newKeys('live', storage);
  const minted = mint(keys);
  t.regex(minted.id, /^ek_[a-z2-7]{26}$/);
  t.regex(minted.key, /^loc_live_[a-z2-7]{39}$/);
  t.is(minted.prefix, `${minted.key.slice(0, 17)}…`);
  t.regex(mint(newKeys('sandbox')).key, /^loc_test_/);
  const stored = JSON.stringify(storage.all('select * from local_keys'));
  t.false(stored.includes(minted.key.slice(17)));
  t.false(JSON.stringify(keys.list()).includes(minted.key.slice(17)));
});

test('§5.2 a key authenticates until it is revoked, at once, and in its own environment only', (t) => {
  const storage = newStorage();
  const keys = newKeys('live', storage);
  const { id, key } = mint(keys);
  t.is(keys.authenticate(key), id);
  t.is(keys.authenticate(`${key}a`), null);
  t.is(keys.authenticate(key.toUpperCase()), null);
  t.is(newKeys('sandbox', storage).authenticate(key), null);
  t.like(keys.revoke(id), { id, alsoRevoked: [] });
  t.is(keys.authenticate(key), null);
  t.like(keys.revoke(id), { id }, 'revoking twice is no error');
  t.is(keys.revoke('ek_22222222222222222222222222'), null);
  t.is(keys.revoke("x' or 1=1"), null);
});

test('decisions 6: a record of the other environment opens nothing here, although this very identity signed it', (t) => {
  const keys = newKeys('live'),
    minting = newKeys('sandbox');
  const { id } = mint(minting);
  minting.revoke(id);
  const records = minting.unshared(identity);
  t.is(records.length, 1);
  t.deepEqual(keys.takeRevocations(records, identityKey), { taken: 0, foreign: 1 });
  t.deepEqual(newKeys('sandbox').takeRevocations(records, identityKey), { taken: 1, foreign: 0 });
  t.false(keys.list().some((key) => key.id === id));
});

test('so many keys may be valid at one time; one that is revoked makes room', (t) => {
  const storage = newStorage();
  const keys = newKeys('live', storage);
  const { id } = mint(keys);
  storage.transaction(() => {
    for (let made = 1; made < LOCAL_KEYS_MAX; made += 1) {
      storage.run(
        'insert into local_keys (id, environment, hash, label, prefix, created_at_ms) values (?, ?, ?, ?, ?, ?)',
        `ek_${made}`,
        'live',
        `hash ${made}`,
        'shop',
        'loc_live_',
        made,
      );
    }
  });
  t.like(keys.mint({ label: 'one more' }), { code: 'CONFLICT', details: { limit: LOCAL_KEYS_MAX } });
  keys.revoke(id);
  t.regex(mint(keys).key, /^loc_live_/);
});

test('a revocation is told before keys that the cloud has no room for', (t) => {
  const keys = newKeys();
  const ids = ['first', 'second', 'third'].map((label) => mint(keys, label).id);
  keys.revoke(ids[2]!);
  const [told, ...others] = keys.unshared(identity);
  t.deepEqual([told!.label, told!.revokedAtMs !== null], ['third', true]);
  t.deepEqual(
    others.map(({ label, revokedAtMs }) => [label, revokedAtMs !== null]).sort(),
    [
      ['first', false],
      ['second', false],
    ],
    'of one millisecond, in any order',
  );
});

test('a label is 1 to 120 characters without control characters', (t) => {
  const keys = newKeys();
  for (const label of ['', '   ', 'x'.repeat(121), 'two\nlines', 'bell\u0007', 'sep\u2028arator']) {
    const minted = keys.mint({ label });
    t.is('ok' in minted ? minted.code : null, 'INVALID_INPUT', JSON.stringify(label));
  }
  t.is(mint(keys, '  Büro 7 ').label, 'Büro 7');
});

test('decisions 6: records are in the wire form, signed by the identity, and one byte more or less breaks it', (t) => {
  const keys = newKeys();
  mint(keys);
  const [record] = keys.unshared(identity);
  t.true(localKeyRecord.safeParse(record).success);
  t.is(judgeRecord(identityKey, record!), 'signed');
  for (const changed of [
    { label: 'other' },
    { id: 'ek_22222222222222222222222222' },
    { hash: 'ab'.repeat(32) },
    { environment: 'sandbox' as const },
    { createdAtMs: 1 },
    { prefix: 'loc_live_x…' },
  ])
    t.is(judgeRecord(identityKey, { ...record!, ...changed }), 'foreign', JSON.stringify(changed));
  t.is(judgeRecord(publicKeyOf(stranger.publicKey), record!), 'foreign');
});

test('no two records have one text: a label cannot pose as the fields behind it', (t) => {
  const base = {
    id: 'ek_22222222222222222222222222',
    environment: 'live' as const,
    hash: 'ab'.repeat(32),
    createdAtMs: 5,
    revokedAtMs: null,
  };
  const one = { ...base, label: 'a\nb', prefix: 'c' };
  const two = { ...base, label: 'a', prefix: 'b\nc' };
  t.deepEqual(recordText(one), recordText(two), 'the raw texts do meet');
  for (const record of [one, two])
    t.is(judgeRecord(identityKey, signRecord(identity, record)), 'foreign', 'so neither is taken');
});

test('found F11: a signed record of a valid key opens nothing at another replica; a revocation is taken from one', (t) => {
  const [first, second] = [newKeys(), newKeys()];
  const { id, key } = mint(first);
  const minted = first.unshared(identity);
  t.deepEqual(second.takeRevocations(minted, identityKey), { taken: 0, foreign: 0 });
  t.is(second.authenticate(key), null);
  t.deepEqual(second.list(), []);
  first.noteShared(minted);
  t.deepEqual(first.unshared(identity), []);
  first.revoke(id);
  const revoked = first.unshared(identity);
  t.is(revoked.length, 1);
  t.deepEqual(second.takeRevocations(revoked, identityKey), { taken: 1, foreign: 0 });
  second.takeRevocations(minted, identityKey); // The cloud replays the record of before.
  t.deepEqual([second.authenticate(key), second.list().length], [null, 1]);
});

test('a cloud cannot invent a key, and may revoke one', (t) => {
  const keys = newKeys();
  const { key, id } = mint(keys);
  const [record] = keys.unshared(identity);
  const invented = signRecord(stranger, { ...record!, id: 'ek_33333333333333333333333333', hash: 'cd'.repeat(32) });
  t.deepEqual(keys.takeRevocations([invented, { ...record!, hash: 'cd'.repeat(32) }, record!], identityKey), {
    taken: 0,
    foreign: 2,
  });
  t.is(keys.authenticate(key), id);
  keys.takeRevocations([{ ...record!, revokedAtMs: 9 }], identityKey);
  t.deepEqual(keys.judge(key), { reason: 'revoked' });
  const [resigned] = keys.unshared(identity);
  t.is(judgeRecord(identityKey, resigned!), 'signed', 'the edge signs the revocation that it took');
  t.is(resigned!.id, id);
});

test('found F11: what a key minted is revoked with it, whatever lies between; a repeated revocation answers the same', (t) => {
  const keys = newKeys();
  const by = (mintedBy: string) => keys.mint({ label: 'x', mintedBy }) as MintedKey;
  const root = mint(keys),
    child = by(root.id),
    grandchild = by(child.id),
    sibling = mint(keys);
  t.deepEqual([root.mintedBy, child.mintedBy, grandchild.mintedBy], [null, root.id, child.id]);
  const revoked = keys.revoke(root.id)!;
  t.deepEqual(revoked.alsoRevoked, [child.id, grandchild.id].sort());
  t.deepEqual(keys.revoke(root.id), revoked);
  t.deepEqual(
    [child, grandchild, sibling].map(({ key }) => 'id' in keys.judge(key)),
    [false, false, true],
  );
  t.is(keys.revoke(grandchild.id)!.alsoRevoked.length, 0);
  t.like(
    keys.mint({ label: 'late', mintedBy: child.id }),
    { code: 'UNAUTHORIZED' },
    'a request that was under way when its key was revoked mints nothing',
  );
});

test('found F11: a key expires, and none that it minted is good for longer', (t) => {
  let nowMs = 1_700_000_000_000;
  const keys = new LocalKeys(newStorage(), 'live', () => nowMs),
    endMs = nowMs + 1_000;
  const short = keys.mint({ label: 'short', expiresAtMs: endMs }) as MintedKey;
  t.is(short.expiresAt, new Date(endMs).toISOString());
  t.is((keys.mint({ label: 'child', mintedBy: short.id }) as MintedKey).expiresAt, short.expiresAt);
  for (const [mintedBy, expiresAtMs] of [
    [short.id, endMs + 1],
    [null, nowMs],
    [null, nowMs - 1],
    [null, 253_402_300_800_000],
  ] as const) {
    t.like(keys.mint({ label: 'x', mintedBy, expiresAtMs }), {
      code: 'INVALID_INPUT',
      details: { field: 'expiresAt' },
    });
  }
  nowMs = endMs - 1;
  t.is(keys.authenticate(short.key), short.id);
  nowMs = endMs;
  t.deepEqual(keys.judge(short.key), { reason: 'expired' });
  t.like(keys.mint({ label: 'late', mintedBy: short.id }), { code: 'UNAUTHORIZED' });
  t.deepEqual(keys.unshared(identity), [], 'an edge of before knows no expiry and is told of none of them');
});

test('a chain of keys of which each minted the next has an end', (t) => {
  const keys = newKeys();
  let last: ReturnType<LocalKeys['mint']> = mint(keys);
  for (let depth = 0; depth < MINTED_DEPTH_MAX && 'key' in last; depth += 1)
    last = keys.mint({ label: 'x', mintedBy: last.id });
  t.like(last, { code: 'CONFLICT', details: { reason: 'minted_too_deep', limit: MINTED_DEPTH_MAX } });
});

test('a cloud that lost its records gets them again', (t) => {
  const keys = newKeys();
  mint(keys);
  const records = keys.unshared(identity);
  keys.noteShared(records);
  keys.noteKnown(records);
  t.is(keys.unshared(identity).length, 0);
  keys.noteKnown([]);
  t.deepEqual(keys.unshared(identity), records);
});

test('found F14: a thousand records of a cloud are verified in slices, one frame after the other', async (t) => {
  const keys = newKeys(),
    revoked = mint(keys),
    alarms: unknown[] = [];
  keys.revoke(revoked.id);
  const [record] = keys.unshared(identity),
    slices: number[] = [];
  const counting = Object.assign(newKeys(), {
    takeRevocations(records: readonly LocalKeyRecord[]) {
      slices.push(records.length);
      return LocalKeys.prototype.takeRevocations.call(this, records, identityKey);
    },
  });
  let turns = 0,
    isDone = false;
  const look = (): void => {
    turns += 1;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  const log: EdgeLog = {
    info: () => undefined,
    warn: () => undefined,
    alarm: (event, facts) => void alarms.push([event, facts]),
    fault: () => undefined,
    alarms: 0,
  };
  const share = new LocalKeyShare({
    keys: counting,
    sets: null as never,
    identity,
    identityKey,
    log,
    nowMs: () => 0,
    shelf: null,
  });
  const invented = Array.from({ length: 999 }, () => ({ ...record!, hash: 'cd'.repeat(32) }));
  await Promise.all([share.merge([...invented, record!]), share.merge([record!])]);
  isDone = true;
  t.true(
    Math.max(...slices) <= 50 && slices.length === 21 && turns > slices.length / 2,
    `${slices.length} slices, ${turns} turns`,
  );
  t.deepEqual(alarms, [['foreign_local_keys_refused', { count: 999 }]]);
  t.is(counting.list()[0]!.id, revoked.id);
});
