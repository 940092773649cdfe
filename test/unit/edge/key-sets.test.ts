/** Key sets: what replicas know together, over a cloud that relays, withholds and replays as it likes. */
import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { createIdentity, publicKeyOf } from '../../../edge/link/identity.ts';
import {
  joinKeys,
  KEY_SET_BYTES_MAX,
  keysOf,
  keysText,
  mintedUnder,
  signKeySet,
  stateOf,
  type KeyEntry,
  type StatedKey,
} from '../../../edge/local-keys/key-set.ts';
import { KeySets } from '../../../edge/local-keys/key-sets.ts';
import { LocalKeys, type MintedKey } from '../../../edge/local-keys/local-keys.ts';
import { SCHEMA_VERSIONS } from '../../../edge/storage/schema.ts';
import { openDatabase, openStorage } from '../../../edge/storage/storage.ts';
import { openVouchTime } from '../../../edge/local-keys/vouch-time.ts';
import { FRAME_BYTES_TO_EDGE_MAX, keySetFrame, type KeySetRecord } from '../../../protocol/frames.ts';
import { LocalKeyShare } from '../../../edge/local-keys/share.ts';
import type { EdgeLog } from '../../../edge/process/log.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const TTL_MS = 86_400_000,
  HOUR_MS = 3_600_000;
const identity = createIdentity(randomBytes(32)),
  identityKey = publicKeyOf(identity.publicKey);

/** One clock for all replicas of a test. */
class Fleet {
  nowMs = 1_700_000_000_000;

  replica(dataDir = newDirectory(), isShelved = false) {
    const storage = openStorage(dataDir),
      time = { nowMs: () => this.nowMs, mark: () => undefined };
    const keys = new LocalKeys(storage, 'live', () => this.nowMs);
    const sets = new KeySets({
      storage,
      keys,
      environment: 'live',
      identity,
      identityKey,
      ttlMs: TTL_MS,
      time,
      isShelved,
    });
    const mint = (mintedBy: string | null = null): MintedKey => {
      const minted = keys.mint({ label: 'app', mintedBy });
      if (!('key' in minted)) throw new Error(minted.code);
      return minted;
    };
    return { keys, sets, storage, dataDir, mint, isGood: (key: MintedKey) => keys.authenticate(key.key) === key.id };
  }
}
type Replica = ReturnType<Fleet['replica']>;

/** What a document says after it crossed the wire. */
function wire(set: KeySetRecord | null): KeySetRecord {
  return keySetFrame.parse(JSON.parse(JSON.stringify({ set }))).set;
}

/** The leader, and another, hear of each other until nothing is due. */
function settle(leader: Replica, ...others: Replica[]): KeySetRecord[] {
  const all = [leader, ...others],
    seen: KeySetRecord[] = [];
  for (let round = 0; round < 10; round += 1) {
    const due = all.flatMap((replica) => {
      const set = replica.sets.due(replica === leader);
      if (set !== null) replica.sets.noteShared(set);
      return set === null ? [] : [{ from: replica, set: wire(set) }];
    });
    if (due.length === 0) return seen;
    for (const { from, set } of due) {
      seen.push(set);
      for (const replica of all) if (replica !== from) replica.sets.take(set);
    }
  }
  throw new Error('documents go to and fro');
}

// ── The union ────────────────────────────────────────────────────────────────────────────────────────────────────────

const IDS = ['ek_a', 'ek_b', 'ek_c', 'ek_d', 'ek_e'];
const someInstant = fc.option(fc.integer({ min: 1, max: 9 }), { nil: null });
const maker = fc.option(fc.constantFrom(...IDS), { nil: null });
/**
 * Three replicas' knowledge of the same keys: who minted a key is one fact, which a record of before or a short
 * revocation leaves out.
 */
const knowledge = fc.tuple(maker, maker, maker, maker, maker).chain((makers) => {
  const entry = fc
    .record({
      id: fc.constantFrom(...IDS),
      hash: fc.constantFrom(null, 'aa', 'bb'),
      label: fc.constantFrom('', 'x'),
      prefix: fc.constant('p'),
      createdAtMs: fc.integer({ min: 0, max: 2 }),
      expiresAtMs: someInstant,
      mintedBy: fc.boolean(),
      revokedAtMs: someInstant,
    })
    .map((key): KeyEntry => ({ ...key, mintedBy: key.mintedBy ? makers[IDS.indexOf(key.id)]! : null }));
  const one = fc
    .uniqueArray(entry, { selector: ({ id }) => id, maxLength: IDS.length })
    .map((keys) => joinKeys(keys, []));
  return fc.tuple(one, one, one);
});
const canonical = (keys: ReadonlyMap<string, KeyEntry>) =>
  [...keys.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map((key) => JSON.stringify(key, Object.keys(key).sort()));
const join = (...parts: ReadonlyMap<string, KeyEntry>[]) =>
  parts.reduce((left, right) => joinKeys(left.values(), right.values()), new Map<string, KeyEntry>());

test('found F11: documents merge by union: in any order, grouping and repetition the same, and no revocation or key is lost', (t) => {
  fc.assert(
    fc.property(knowledge, ([a, b, c]) => {
      const all = join(a, b, c);
      t.deepEqual(canonical(join(b, a, c)), canonical(all), 'commutative');
      t.deepEqual(canonical(join(a, join(b, c))), canonical(join(join(a, b), c)), 'associative');
      t.deepEqual(canonical(join(all, b, all, a)), canonical(all), 'idempotent');
      for (const part of [a, b, c]) {
        for (const { id, revokedAtMs, expiresAtMs } of part.values()) {
          t.true(all.has(id));
          if (revokedAtMs !== null) t.true(all.get(id)!.revokedAtMs! <= revokedAtMs, 'revoked in one, revoked in all');
          if (expiresAtMs !== null) t.true(all.get(id)!.expiresAtMs! <= expiresAtMs);
        }
      }
      for (const { id, revokedAtMs } of all.values()) {
        if (revokedAtMs !== null)
          for (const child of mintedUnder(all.values(), id))
            t.not(all.get(child)!.revokedAtMs, null, 'with what it minted');
      }
    }),
    { numRuns: 300 },
  );
});

test('a set that outgrows its frame gives up the details of the oldest revocations, and no revocation', (t) => {
  const keys = Array.from({ length: 6_000 }, (_, at): StatedKey => ({
    id: `ek_${at}`,
    hash: 'ab'.repeat(32),
    label: '鍵'.repeat(120),
    prefix: 'loc_live_abcdefgh…',
    createdAtMs: 1,
    expiresAtMs: null,
    mintedBy: null,
    revokedAtMs: at < 5_000 ? at + 1 : null,
    vouched: at >= 5_000,
  }));
  const text = keysText(keys),
    read = new Map(keysOf(text).map((key) => [key.id, key]));
  t.true(Buffer.byteLength(text) <= KEY_SET_BYTES_MAX);
  t.true(
    Buffer.byteLength(JSON.stringify({ set: { keys: text } })) < FRAME_BYTES_TO_EDGE_MAX * 0.75,
    'the other end would close the stream',
  );
  t.true(keys.every(({ id, revokedAtMs }) => read.get(id)!.revokedAtMs === revokedAtMs));
  t.deepEqual(
    [read.get('ek_0')!.hash, read.get('ek_4999')!.hash, read.get('ek_5999')!.hash],
    [null, 'ab'.repeat(32), 'ab'.repeat(32)],
  );
  t.is(stateOf(read.values()), stateOf(keys), 'what was given up is no news');
  t.deepEqual(canonical(joinKeys(read.values(), keys)), canonical(joinKeys(keys, [])));
  const known = joinKeys(keys, []);
  t.is(
    [...joinKeys(known.values(), read.values()).values()].filter((key) => known.get(key.id) !== key).length,
    0,
    'what is known is written once',
  );
});

// ── Replicas ─────────────────────────────────────────────────────────────────────────────────────────────────────────

test('§5.2 a key that one replica minted is good at the others, and revoked at them, with what it minted anywhere', (t) => {
  const fleet = new Fleet(),
    [first, second, third] = [fleet.replica(), fleet.replica(), fleet.replica()];
  const key = first.mint();
  settle(first, second, third);
  t.true(second.isGood(key) && third.isGood(key));
  const child = second.mint(key.id),
    other = third.mint();
  settle(first, second, third);
  t.true([first, second, third].every(({ isGood }) => isGood(child) && isGood(other)));
  t.deepEqual(third.keys.revoke(key.id)!.alsoRevoked, [child.id]);
  settle(first, second, third);
  t.true([first, second, third].every(({ isGood }) => !isGood(child) && !isGood(key) && isGood(other)));
});

test('found F11: changes at two replicas at one time merge; a key minted by a leaked key dies where the two meet', (t) => {
  const fleet = new Fleet(),
    [first, second] = [fleet.replica(), fleet.replica()];
  const leaked = first.mint();
  settle(first, second);
  first.keys.revoke(leaked.id);
  const child = second.mint(leaked.id),
    grandchild = second.mint(child.id),
    own = second.mint();
  settle(second, first);
  t.true([first, second].every(({ isGood }) => !isGood(child) && !isGood(grandchild) && isGood(own)));
  t.is(stateOf(first.keys.entries()), stateOf(second.keys.entries()));
});

test('when nothing changed, nothing is sent; the leader vouches anew after a quarter of the TTL', (t) => {
  const fleet = new Fleet(),
    [leader, other] = [fleet.replica(), fleet.replica()];
  const key = leader.mint();
  settle(leader, other);
  t.deepEqual([leader.sets.due(true), other.sets.due(false)], [null, null]);
  fleet.nowMs += TTL_MS / 4;
  t.is(other.sets.due(false), null);
  const renewed = wire(leader.sets.due(true));
  t.is(renewed.validUntilMs, fleet.nowMs + TTL_MS);
  other.sets.take(renewed);
  fleet.nowMs += TTL_MS - 1;
  t.true(other.isGood(key));
  fleet.nowMs += 1;
  t.false(other.isGood(key), 'nobody vouched');
  t.true(leader.isGood(key), 'it minted the key itself');
});

test('found F11: a hostile cloud that shows a fresh and an old replica every earlier document in any order opens no revoked key for longer than the TTL', (t) => {
  const fleet = new Fleet(),
    [first, second] = [fleet.replica(), fleet.replica()];
  const leaked = first.mint(),
    documents = settle(first, second);
  const child = second.mint(leaked.id);
  documents.push(...settle(first, second));
  const revokedAtMs = (fleet.nowMs += HOUR_MS);
  first.keys.revoke(leaked.id);
  const withRevocation = settle(first, second);
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...documents, ...documents], { minLength: 1 }),
      fc.boolean(),
      fc.boolean(),
      (shown, leads, hearsLast) => {
        fleet.nowMs = revokedAtMs;
        const fresh = fleet.replica();
        for (const set of shown) {
          fresh.sets.take(set);
          second.sets.take(set);
          const own = fresh.sets.due(leads); // the cloud may have it lead, and show its own document to whom it likes
          if (own !== null) second.sets.take(wire(own));
        }
        t.false(second.isGood(leaked) || second.isGood(child), 'an old replica knows better');
        if (hearsLast) for (const set of withRevocation) fresh.sets.take(set);
        if (hearsLast) t.false(fresh.isGood(leaked) || fresh.isGood(child));
        // It leads for two days, alone or with another fresh one, and each shows the other what it signs.
        const accomplice = fleet.replica();
        for (let hour = 0; hour < 48; hour += 12) {
          fleet.nowMs += 12 * HOUR_MS;
          for (const [from, to] of [
            [fresh, accomplice],
            [accomplice, fresh],
          ] as const) {
            const set = from.sets.due(true);
            if (set !== null) to.sets.take(wire(set));
          }
          if (fleet.nowMs >= revokedAtMs + TTL_MS)
            t.false(
              fresh.isGood(leaked) || fresh.isGood(child) || accomplice.isGood(leaked) || accomplice.isGood(child),
            );
        }
        fresh.storage.close();
        accomplice.storage.close();
      },
    ),
    { numRuns: 8 },
  );
});

test('found F11: a key minted on a fresh replica by a key that was revoked elsewhere dies with the set that let it in', (t) => {
  const fleet = new Fleet(),
    [first, fresh] = [fleet.replica(), fleet.replica()];
  const leaked = first.mint(),
    old = wire(first.sets.due(true));
  first.keys.revoke(leaked.id);
  fresh.sets.take(old);
  const child = fresh.mint(leaked.id);
  t.true(fresh.isGood(child), 'the cloud withholds the revocation');
  fleet.nowMs += TTL_MS;
  t.deepEqual(fresh.keys.judge(child.key), { reason: 'not_vouched' });
  t.false('key' in fresh.keys.mint({ label: 'x', mintedBy: child.id }));
});

test('a fresh replica that the leader names may vouch in its turn: keys outlive the replicas that minted them', (t) => {
  const fleet = new Fleet(),
    first = fleet.replica(),
    key = first.mint();
  let leader = first;
  for (let replaced = 0; replaced < 3; replaced += 1) {
    const next = fleet.replica();
    next.sets.take(
      wire(
        leader.sets.due(true) ??
          (JSON.parse(
            leader.storage.one<{ record: string }>('select record from key_sets where record is not null')!.record,
          ) as KeySetRecord),
      ),
    );
    settle(leader, next);
    leader = next; // the one before is gone for good
    for (let quarters = 0; quarters < 8; quarters += 1) {
      fleet.nowMs += TTL_MS / 4;
      leader.sets.due(true);
    }
    t.true(leader.isGood(key));
  }
});

test('of each replica only the newest document counts; the same version with another content is a contradiction, whose revocations are kept', (t) => {
  const fleet = new Fleet(),
    [first, second] = [fleet.replica(), fleet.replica()];
  const [key, other] = [first.mint(), first.mint()];
  const one = wire(first.sets.due(true));
  fleet.nowMs += HOUR_MS;
  first.mint();
  const two = wire(first.sets.due(true));
  t.true(two.version > one.version);
  t.deepEqual(
    [two, one, two].map((set) => second.sets.take(set)),
    ['taken', 'older', 'known'],
  );
  const stated = keysOf(two.keys).map((each) => (each.id === key.id ? { ...each, revokedAtMs: 1 } : each));
  const contradiction = signKeySet(identity, { ...two, keys: keysText(stated) });
  t.is(second.sets.take(contradiction), 'contradicts');
  t.deepEqual([second.isGood(key), second.isGood(other)], [false, true]);
  const before = first.sets.replica;
  t.is(first.sets.take(contradiction), 'contradicts');
  t.not(first.sets.replica, before, 'two processes had one name; this one takes another');
});

test('what the identity did not sign, or signed for the other environment, changes nothing', (t) => {
  const fleet = new Fleet(),
    [first, second] = [fleet.replica(), fleet.replica()];
  first.mint();
  const set = wire(first.sets.due(true)),
    stranger = createIdentity(randomBytes(32));
  const changes: Partial<KeySetRecord>[] = [
    { version: set.version + 1 },
    { replica: `rep_${'2'.repeat(26)}` },
    { issuedAtMs: 1 },
    { validUntilMs: set.validUntilMs + 1 },
    { covers: [{ replica: second.sets.replica, version: 1 }] },
    { keys: '[]' },
    { environment: 'sandbox' },
    { signature: '00'.repeat(64) },
  ];
  for (const change of changes) t.is(second.sets.take({ ...set, ...change }), 'foreign', JSON.stringify(change));
  t.is(second.sets.take(signKeySet(stranger, set)), 'foreign');
  t.is(second.sets.take(signKeySet(identity, { ...set, environment: 'sandbox' })), 'foreign');
  t.deepEqual(second.keys.list(), []);
});

test('an older copy of a data directory goes on above the versions that it had signed', (t) => {
  const fleet = new Fleet(),
    first = fleet.replica(),
    other = fleet.replica();
  const key = first.mint(),
    documents = settle(first, other);
  const revoked = first.mint();
  first.keys.revoke(revoked.id);
  documents.push(...settle(first, other));
  const copy = fleet.replica();
  copy.storage.setSetting('key_set_replica', first.sets.replica);
  for (const set of documents) copy.sets.take(set);
  copy.mint();
  t.is(other.sets.take(wire(copy.sets.due(true))), 'taken');
  t.true(other.isGood(key));
});

test('a wall clock set back, also over a restart, prolongs nothing while the machine is up', (t) => {
  const { storage } = new Fleet().replica();
  let wallMs = 10 * TTL_MS,
    upMs = 1_000;
  const open = () =>
    openVouchTime(storage, {
      wallMs: () => wallMs,
      monotonicMs: () => upMs,
      bootTime: () => ({ bootId: 'boot', upMs }),
    });
  let time = open();
  time.mark();
  const startMs = time.nowMs();
  wallMs -= 5 * TTL_MS;
  upMs += TTL_MS;
  t.is(time.nowMs(), startMs + TTL_MS);
  time = open();
  t.is(time.nowMs(), startMs + TTL_MS);
  wallMs += 20 * TTL_MS;
  t.is(time.nowMs(), wallMs, 'a clock set forth is believed');
});

test('found F11: keys of before there were sets are good for one TTL, and on while a leader is there; `keep` vouches for them anew', (t) => {
  const dataDir = newDirectory(),
    fleet = new Fleet();
  const former = openDatabase(dataDir, 'edge.db', SCHEMA_VERSIONS.slice(0, 5), { synchronous: 'full', whole: false });
  const key = 'loc_live_former',
    hash = createHash('sha256').update(key).digest('hex');
  former.run(
    'insert into local_keys (id, environment, hash, label, prefix, created_at_ms) values (?, ?, ?, ?, ?, ?)',
    'ek_former',
    'live',
    hash,
    'app',
    'loc_live_…',
    1,
  );
  former.close();
  const { keys, sets } = fleet.replica(dataDir);
  fleet.nowMs += TTL_MS - 1;
  t.is(keys.authenticate(key), 'ek_former');
  t.is(sets.lapsing(), 1);
  fleet.nowMs += 1;
  t.deepEqual(keys.judge(key), { reason: 'not_vouched' });
  sets.due(true);
  t.is(keys.authenticate(key), 'ek_former', 'the leader vouches');
  fleet.nowMs += TTL_MS;
  t.is(keys.keep(), 1);
  sets.due(false);
  t.is(keys.authenticate(key), 'ek_former');
});

test('found F11: with a shelf, what the cloud relays opens nothing and revokes; what stands on the shelf does both', (t) => {
  const fleet = new Fleet(),
    [first, second] = [fleet.replica(newDirectory(), true), fleet.replica(newDirectory(), true)];
  const [key, other] = [first.mint(), first.mint()],
    set = wire(first.sets.due(true));
  t.is(second.sets.take(set), 'known');
  t.deepEqual(second.keys.list(), []);
  t.is(second.sets.take(set, false), 'taken', 'also what the cloud showed before');
  t.true(second.isGood(key) && second.isGood(other));
  first.keys.revoke(key.id);
  const revoked = wire(first.sets.due(true));
  t.deepEqual([second.sets.take(revoked), second.sets.take(revoked)], ['taken', 'known']);
  t.deepEqual([second.isGood(key), second.isGood(other)], [false, true]);
  t.is(second.sets.take({ ...revoked, keys: '[]' }), 'foreign');
});

test('found F11: a revocation that a known replica has not stated for five minutes is an alarm and a metric, once; it ends when the replica states it', async (t) => {
  const fleet = new Fleet(),
    a = fleet.replica(),
    b = fleet.replica(),
    c = fleet.replica(),
    lines: string[] = [];
  let monotonicMs = 0;
  const log: EdgeLog = {
    info: (event) => void lines.push(event),
    warn: () => undefined,
    alarm: (event, facts) => void lines.push(`${event} ${facts!.count} ${facts!.replica}`),
    fault: (_, error) => t.fail(String(error)),
    alarms: 0,
  };
  const share = new LocalKeyShare({
    keys: a.keys,
    sets: a.sets,
    identity,
    identityKey,
    log,
    nowMs: () => monotonicMs,
    shelf: null,
  });
  const beat = async (afterMs: number) => {
    monotonicMs += afterMs;
    await share.send(true, async () => ({ ok: true }));
    return share.unconfirmed;
  };
  const key = a.mint();
  b.mint();
  c.mint();
  settle(a, b, c);
  t.is(await beat(0), 0);
  a.keys.revoke(key.id);
  t.is(await beat(1_000), 2);
  settle(a, b); // the cloud keeps it from c
  t.is(await beat(1_000), 1);
  t.false(b.isGood(key));
  t.true(c.isGood(key), 'what the alarm is for');
  t.is(await beat(297_999), 1);
  t.deepEqual(
    lines.filter((line) => line.startsWith('revocation')),
    [],
  );
  await beat(1);
  await beat(600_000);
  t.deepEqual(
    lines.filter((line) => line.startsWith('revocation')),
    [`revocation_unconfirmed 1 ${c.sets.replica}`],
  );
  a.sets.shareAnew(); // a new stream
  t.true(settle(a, b, c).length <= 3, 'no more than one document of each replica');
  t.false(c.isGood(key));
  t.is(await beat(1_000), 0);
  t.is(lines.at(-1), 'revocations_confirmed');
});
