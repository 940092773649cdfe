import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { livenessAfter } from '../../../gateway/edge-stream/sessions.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import {
  localKeysFrame,
  type EdgeTreasury,
  type InstructionRecord,
  type KeySetRecord,
  type LocalKeyRecord,
} from '../../../protocol/frames.ts';
import { environmentOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { enrolled } from '../../support/account.ts';
import { body, codeOf, opened, settle, TestConnection, TestEdge } from '../../support/edge-rooms.ts';

test('§3.2 liveness by silence: [0, 60) live, [60, 120) stale, from 120 s down', (t) => {
  t.deepEqual([0, 59_999, 60_000, 119_999, 120_000].map(livenessAfter), ['live', 'live', 'stale', 'stale', 'down']);
});

test('§3.2 edge_offline after 120 s of silence, edge_online with the next heartbeat, once each', async (t) => {
  const node = await opened(),
    account = node.add();
  const told = () =>
    node.accounts
      .get(account)!
      .published()
      .map(({ event }) => event);
  const edge = await node.edge(account);
  edge.joined.left(true);
  await node.pass(119);
  t.deepEqual(told(), []);
  await node.pass(60);
  t.deepEqual(told(), ['edge_offline']);
  await node.connect(account, edge);
  await node.pass(200, edge);
  t.deepEqual(told(), ['edge_offline', 'edge_online']);
});

test('§3.2 a node that restarts reports edges that do not come back, and those that do not at all', async (t) => {
  const node = await opened(),
    gone = node.add(),
    back = node.add(enrolled({ environment: 'sandbox' }));
  await node.edge(gone);
  const edge = await node.edge(back);
  await node.pass(2);
  await node.restart(3_600_000);
  await node.connect(back, edge);
  await node.pass(119, edge);
  t.deepEqual(node.accounts.get(gone)!.published(), []);
  await node.pass(6, edge);
  t.deepEqual(
    node.accounts
      .get(gone)!
      .published()
      .map(({ event }) => event),
    ['edge_offline'],
  );
  t.deepEqual(node.accounts.get(back)!.published(), []);
});

test('a transition that the account could not take is told again', async (t) => {
  const node = await opened(),
    account = node.add();
  const edge = await node.edge(account);
  edge.joined.left(true);
  node.failing.add('note_liveness');
  await node.pass(130);
  t.is(node.accounts.get(account)!.state.edge.liveness, 'live');
  node.failing.clear();
  await node.pass(2);
  t.is(node.accounts.get(account)!.state.edge.liveness, 'down');
});

test('§2.8 session rows: role, version, liveness, epoch, outbox, pod; an ended one stays for the reaper', async (t) => {
  const node = await opened(),
    account = node.add();
  const edge = await node.edge(account),
    follower = await node.edge(account);
  edge.joined.heartbeat({
    ...body(edge.sessionId),
    outboxDepth: 4,
    outboxPoisoned: true,
    podHint: 'pod-1',
    leaseEpoch: 1,
  });
  await node.pass(1);
  t.like(node.saved.get(edge.sessionId), {
    role: 'leader',
    edgeVersion: '1.0.0',
    liveness: 'live',
    leaseEpoch: 1,
    outboxMode: 'durable',
    outboxDepth: 4,
    outboxPoisoned: true,
    podHint: 'pod-1',
    endedAtMs: null,
  });
  t.is(node.saved.get(follower.sessionId)!.role, 'follower');
  edge.joined.left(true);
  follower.joined.left(true);
  await node.pass(125);
  t.like(node.saved.get(edge.sessionId), { liveness: 'down' });
  t.not(node.saved.get(edge.sessionId)!.endedAtMs, null);
  await node.pass(3_540);
  t.true(node.saved.has(edge.sessionId));
});

test('treasury K15, S27: what a session said of its registry and its caps is kept until it says something else', async (t) => {
  const node = await opened(),
    edge = await node.edge(node.add());
  const said = async (treasury?: EdgeTreasury) => {
    edge.joined.heartbeat({ ...body(edge.sessionId), leaseEpoch: edge.epoch, ...(treasury && { treasury }) });
    await node.pass(1);
    return node.saved.get(edge.sessionId)!.treasury;
  };
  t.is(await said(), null, 'an edge of before says nothing');
  const first = { registryVersion: 1, windowSeconds: 60, caps: [{ chain: 'eth', cap: '9', spent: '4' }] } as const,
    second = { registryVersion: 2, windowSeconds: 60, caps: [] };
  t.deepEqual(await said({ ...first, caps: [...first.caps] }), { ...first, caps: [...first.caps] });
  t.deepEqual(await said(), { ...first, caps: [...first.caps] });
  t.deepEqual(await said(second), second);
});

test('§8.2 concurrent edge sessions by tier: 1, 5, unlimited; sandbox is exempt; a session that comes back is no further one', async (t) => {
  for (const [tier, limit, requiredTier] of [
    ['free', 1, 'premium'],
    ['premium', 5, 'ultimate'],
  ] as const) {
    const node = await opened(),
      account = node.add(enrolled({ plan: { tier } }));
    const edges = [];
    for (let count = 0; count < limit; count += 1) edges.push(await node.edge(account));
    const refused = (await node.connect(account, new TestEdge())) as Refusal;
    t.like(refused, { code: 'TIER_FEATURE_LOCKED', details: { feature: 'edgeSessions', limit, requiredTier } });
    t.is(codeOf(await node.connect(account, edges[0]!)), 'accepted');
    edges[0]!.joined.left(true);
    t.is(codeOf(await node.connect(account, new TestEdge())), 'accepted');
  }
  const node = await opened(),
    sandbox = node.add(enrolled({ environment: 'sandbox', plan: { tier: 'free' } }));
  for (let count = 0; count < 7; count += 1) t.is(codeOf(await node.connect(sandbox, new TestEdge())), 'accepted');
});

test('a session whose old stream is half open takes its place: the old stream is closed, its end changes nothing', async (t) => {
  const node = await opened(),
    account = node.add();
  const edge = await node.edge(account);
  const old = edge.connection;
  await node.connect(account, edge);
  t.is(old.closedWith, 'CONFLICT');
  old.joined!.left(true);
  t.deepEqual([...node.rooms.leaders()], [account]);
  t.is(node.rooms.streamCount, 1);
});

test('§5.2 local keys are stored and told to every other replica at once; of another environment never', async (t) => {
  const node = await opened(),
    account = node.add();
  const [first, second, third] = [await node.edge(account), await node.edge(account), await node.edge(account)];
  const record: LocalKeyRecord = {
    id: `ek_${'a'.repeat(26)}`,
    environment: 'live',
    hash: '0'.repeat(64),
    label: 'x',
    prefix: 'loc_live_ab',
    createdAtMs: 1,
    revokedAtMs: null,
    signature: '0'.repeat(128),
  };
  t.deepEqual(await second.joined.localKeys([record]), { ok: true });
  t.deepEqual(
    [first, second, third].map(({ connection }) => connection.of('keys').length),
    [1, 0, 1],
  );
  t.is((await second.joined.localKeys([{ ...record, environment: 'sandbox' }])).code, 'INVALID_INPUT');
  const late = await node.edge(account);
  t.deepEqual(late.joined.welcome.localKeys, [record]);
});

test('found F11: key sets are stored and told to every other replica once, and to one that comes later; of another environment never', async (t) => {
  const node = await opened(),
    account = node.add();
  const [first, second] = [await node.edge(account), await node.edge(account)];
  t.true(first.joined.welcome.keySets);
  const set: KeySetRecord = {
    environment: environmentOf(account),
    replica: `rep_${'2'.repeat(26)}`,
    version: 1,
    issuedAtMs: 1,
    validUntilMs: 2,
    covers: [],
    keys: '[]',
    signature: 'b'.repeat(128),
  };
  t.deepEqual(await first.joined.keySet(set), { ok: true });
  t.deepEqual(await first.joined.keySet(set), { ok: true });
  t.deepEqual([first.connection.of('key_set'), second.connection.of('key_set')], [[], [{ set }]]);
  t.is(
    (await first.joined.keySet({ ...set, environment: set.environment === 'live' ? 'sandbox' : 'live' })).code,
    'INVALID_INPUT',
  );
  const late = await node.edge(account);
  late.joined.begun();
  await settle();
  t.deepEqual(late.connection.of('key_set'), [{ set }]);
});

const recordOf = (serial: number): LocalKeyRecord => ({
  id: `ek_${String(serial)
    .replace(/[0-9]/g, (digit) => 'abcdefghij'[Number(digit)]!)
    .padStart(26, 'a')}`,
  environment: 'live',
  hash: String(serial).padStart(64, '0'),
  label: `key ${serial}`,
  prefix: 'loc_live_ab',
  createdAtMs: serial,
  revokedAtMs: null,
  signature: '0'.repeat(128),
});
/** Creation times of the keys that an edge was told of: each one's own in these tests. */
const keysTold = ({ connection, joined }: TestEdge): number[] =>
  [...joined.welcome.localKeys, ...connection.of('keys').flatMap(({ records }) => records as LocalKeyRecord[])].map(
    ({ createdAtMs }) => createdAtMs,
  );

test('§5.2 every local key reaches a replica that comes later, however many there are', async (t) => {
  const node = await opened(),
    account = node.add();
  const records = Array.from({ length: 2_500 }, (_, serial) => recordOf(serial));
  node.localKeys.set(account, records);
  const edge = await node.edge(account);
  edge.joined.begun();
  await settle();
  t.true(
    isDeepStrictEqual(
      keysTold(edge),
      records.map(({ createdAtMs }) => createdAtMs),
    ),
    `${keysTold(edge).length} keys`,
  );
  t.true(
    edge.connection.of('keys').every(({ records: some }) => localKeysFrame.safeParse({ records: some }).success),
    'in frames that an edge takes',
  );
});

test('§5.2 a local key that another replica shares while a stream is coming up reaches it', async (t) => {
  const node = await opened(),
    account = node.add();
  const first = await node.edge(account);
  const answer = node.hold('inspect');
  const coming = node.edge(account);
  await node.pass(1, first);
  await first.joined.localKeys([recordOf(1)]);
  answer();
  const second = await coming;
  second.joined.begun();
  await node.pass(1, first, second);
  t.deepEqual(keysTold(second), [1]);
});

test('§4.3 the heartbeat over REST: liveness and session without a stream; it leads only where nobody else could', async (t) => {
  const node = await opened(),
    account = node.add();
  t.deepEqual(await node.rooms.noteHeartbeat(account, body('ses_rest')), {
    role: 'follower',
    leaseEpoch: 0,
    leaseTtlMs: 30_000,
  });
  t.is(node.accounts.get(account)!.state.edge.liveness, 'live');
  t.deepEqual(node.rooms.liveSessions(account), ['ses_rest']);
  const leader = await node.edge(account);
  leader.joined.left(true);
  await node.pass(9);
  t.deepEqual(await node.rooms.noteHeartbeat(account, body(leader.sessionId)), {
    role: 'leader',
    leaseEpoch: 1,
    leaseTtlMs: 30_000,
  });
  await node.pass(25);
  const other = await node.edge(account);
  t.is(other.role, 'follower');
  t.deepEqual(await node.rooms.noteHeartbeat(account, body(leader.sessionId)), {
    role: 'follower',
    leaseEpoch: 1,
    leaseTtlMs: 30_000,
  });
  await node.pass(6, other);
  t.is(codeOf(await node.rooms.noteHeartbeat(account, body(leader.sessionId))), 'LEASE_EPOCH_STALE');
  t.deepEqual(await node.rooms.noteHeartbeat(account, body(leader.sessionId)), {
    role: 'follower',
    leaseEpoch: 2,
    leaseTtlMs: 30_000,
  });
});

test('stopping says so on every stream, saves the sessions and arms no timer', async (t) => {
  const node = await opened(),
    account = node.add();
  const edge = await node.edge(account);
  await node.rooms.stop();
  t.is(edge.connection.closedWith, 'SERVICE_UNAVAILABLE');
  t.true(node.saved.has(edge.sessionId));
  t.is(node.clock.pending, 0);
  t.is(
    codeOf(
      await node.rooms.join(
        { accountId: account, sessionId: edge.sessionId, edgeVersion: '1.0.0', podHint: null },
        new TestConnection(),
      ),
    ),
    'SERVICE_UNAVAILABLE',
  );
  t.is(node.accounts.get(account)!.state.lease.holder, edge.sessionId);
});

test('an instruction is stored for whoever leads later and told to the other replicas; the leader gets it with the ask to sign', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const record: InstructionRecord = {
    transactionId: newId('txn', 1),
    environment: environmentOf(account),
    instruction: '{}',
    unsigned: '{}',
    askedAtMs: 1,
    broadcastAtMs: null,
    broadcastUnsigned: null,
    signature: 'a'.repeat(128),
  };
  t.deepEqual(await follower.joined.instructions([record]), { ok: true });
  t.deepEqual(leader.connection.of('instructions'), [{ records: [record] }]);
  t.deepEqual(follower.connection.of('instructions'), []);
  await node.rooms.askToSign(account, record.transactionId);
  t.deepEqual(leader.connection.of('sign'), [{ leaseEpoch: 1, transactionId: record.transactionId, record }]);
  const other = record.environment === 'live' ? 'sandbox' : 'live';
  t.like(await follower.joined.instructions([{ ...record, environment: other }]), { ok: false, code: 'INVALID_INPUT' });
});

test('a record that the store does not keep is refused with its reason and told to nobody; the others of its frame go on', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const [unknown, known] = [newId('txn', 1), newId('txn', 2)].map((transactionId): InstructionRecord => ({
    transactionId,
    environment: environmentOf(account),
    instruction: '{}',
    unsigned: '{}',
    askedAtMs: 1,
    broadcastAtMs: null,
    broadcastUnsigned: null,
    signature: 'a'.repeat(128),
  })) as [InstructionRecord, InstructionRecord];
  node.instructionsNotKept = [{ transactionId: unknown.transactionId, reason: 'unknown' }];
  t.like(await follower.joined.instructions([unknown]), { ok: false, code: 'NOT_FOUND' });
  t.deepEqual(leader.connection.of('instructions'), []);
  t.like(await follower.joined.instructions([unknown, known]), { ok: false, code: 'NOT_FOUND' });
  t.deepEqual(leader.connection.of('instructions'), [{ records: [known] }]);
  node.instructionsNotKept = [{ transactionId: unknown.transactionId, reason: 'quota' }];
  t.like(await follower.joined.instructions([unknown]), { ok: false, code: 'PAYLOAD_TOO_LARGE' });
});

test('a local key for which the account has no room is refused and told to nobody; the others of its frame go on', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const [over, kept] = [1, 2].map((at): LocalKeyRecord => ({
    id: newId('ek', at),
    environment: environmentOf(account),
    hash: 'a'.repeat(64),
    label: 'app',
    prefix: 'loc_live_ab…',
    createdAtMs: at,
    revokedAtMs: null,
    signature: 'b'.repeat(128),
  })) as [LocalKeyRecord, LocalKeyRecord];
  node.localKeysNotKept = [over.id];
  t.deepEqual(await follower.joined.localKeys([over]), {
    ok: false,
    code: 'PAYLOAD_TOO_LARGE',
    details: { notKept: [over.id] },
  });
  t.deepEqual(leader.connection.of('keys'), []);
  t.like(await follower.joined.localKeys([over, kept]), { code: 'PAYLOAD_TOO_LARGE' });
  t.deepEqual(leader.connection.of('keys'), [{ records: [kept] }]);
});

test('console A34: the leader is asked to revoke a local key at once, and with each heartbeat again until its signed record is back; nobody else is', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const id = newId('ek', 1),
    asked = { ids: [id] };
  leader.joined.begun();
  await settle();
  t.deepEqual(leader.connection.of('revoke_keys'), [], 'nothing waits');
  node.toRevoke = [id];
  await node.rooms.revokeKeys(account);
  t.deepEqual(leader.connection.of('revoke_keys'), [asked]);
  await node.pass(10, leader, follower);
  t.deepEqual(leader.connection.of('revoke_keys'), [asked, asked], 'its record is not back');
  node.toRevoke = [];
  await node.pass(10, leader, follower);
  await node.pass(10, leader, follower);
  t.is(leader.connection.of('revoke_keys').length, 2);
  t.deepEqual(follower.connection.of('revoke_keys'), []);
  node.toRevoke = [id];
  leader.connection.joined!.left(true);
  const back = await node.edge(account);
  back.joined.begun();
  await settle();
  await node.pass(45, back, follower);
  const asks = [back, follower].map(({ connection }) => connection.of('revoke_keys').length);
  t.true(
    asks.some((count) => count > 0),
    'what waited while nobody led goes to the next leader',
  );
});

test('§5.7, console A49: a stream whose identity is pinned no more is told so and closed; nothing of it is passed on', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    former = await node.edge(account);
  const key = { id: newId('ek', 1), environment: environmentOf(account) } as LocalKeyRecord,
    set = { environment: environmentOf(account), replica: 'rep_a', version: 1 } as never,
    record = { transactionId: newId('txn', 1), environment: environmentOf(account) } as never;
  node.pinned = 'another';
  const refused = { ok: false, code: 'UNAUTHORIZED', details: { reason: 'identity_not_pinned' } };
  t.deepEqual(await former.joined.localKeys([key]), refused);
  t.deepEqual(await former.joined.keySet(set), refused);
  t.deepEqual(await former.joined.instructions([record]), refused);
  t.is(former.connection.closedWith, 'UNAUTHORIZED');
  for (const frame of ['keys', 'key_set', 'instructions']) t.deepEqual(leader.connection.of(frame), []);
  node.pinned = 'key';
  t.deepEqual(await leader.joined.localKeys([key]), { ok: true });
});

test('a stream whose account takes a while to answer is in the room that the node knows, however long that takes', async (t) => {
  const node = await opened(),
    account = node.add();
  const answer = node.hold('inspect');
  const coming = node.edge(account);
  await node.pass(3); // the room is empty meanwhile
  answer();
  const edge = await coming;
  t.deepEqual(node.rooms.liveSessions(account), [edge.sessionId]);
  t.is(node.rooms.streamCount, 1);
  t.deepEqual(await node.rooms.deliver(account, []), { ok: true });
});

test('a heartbeat over REST whose account takes a while to answer is in the room that the node knows', async (t) => {
  const node = await opened(),
    account = node.add(),
    edge = new TestEdge();
  const answer = node.hold('inspect');
  const beat = node.rooms.noteHeartbeat(account, body(edge.sessionId));
  await node.pass(3);
  answer();
  t.like(await beat, { role: 'follower' });
  t.deepEqual(node.rooms.liveSessions(account), [edge.sessionId]);
});
