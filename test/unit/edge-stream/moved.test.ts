/** Rooms while shards come and go: a stream that is let in meanwhile must end where its account lives. */
import test from 'ava';
import { shardOf } from '../../../protocol/node/ids.ts';
import { codeOf, opened, settle, TestEdge } from '../../support/edge-rooms.ts';

for (const waitsFor of ['inspect', 'claim_lease'] as const) {
  for (const comesBack of [false, true]) {
    const how = comesBack ? 'moves away and back' : 'moves';
    test(`4.1 a stream whose ${waitsFor} waits while its shard ${how} is turned away: its edge leads in no forgotten room`, async (t) => {
      const here = await opened(),
        accountId = here.add(),
        shards = [shardOf(accountId)],
        edge = new TestEdge();
      await here.rooms.gained(shards);
      const release = here.hold(waitsFor);
      const joining = here.connect(accountId, edge);
      await settle();
      if (!comesBack) here.elsewhere.add(accountId);
      await here.rooms.moved(shards);
      if (comesBack) await here.rooms.gained(shards);
      release();
      t.is(codeOf(await joining), 'SERVICE_UNAVAILABLE');
      t.deepEqual([...here.rooms.leaders()], []);
      t.deepEqual(await here.rooms.deliver(accountId, []), null);
      // It comes again, to where its account lives.
      here.elsewhere.clear();
      t.is(codeOf(await here.connect(accountId, edge)), 'accepted');
      t.deepEqual([...here.rooms.leaders()], [accountId]);
    });
  }
}

test('4.1 a stream that comes after its account went is turned away, and no room is made for it', async (t) => {
  const here = await opened(),
    accountId = here.add();
  here.elsewhere.add(accountId);
  t.is(codeOf(await here.connect(accountId, new TestEdge())), 'SERVICE_UNAVAILABLE');
  t.deepEqual(here.asked, []);
});

test('F52 a stream whose lease is being claimed when its node steps back is turned away', async (t) => {
  const here = await opened(),
    accountId = here.add();
  const release = here.hold('claim_lease');
  const joining = here.connect(accountId, new TestEdge());
  await settle();
  await here.rooms.stop();
  release();
  t.is(codeOf(await joining), 'SERVICE_UNAVAILABLE');
  t.deepEqual([...here.rooms.leaders()], []);
});

test('4.1 row 2: a node that was frozen past its lease acknowledges no heartbeat, elects nobody and delivers nothing before its next beat', async (t) => {
  const here = await opened(),
    accountId = here.add();
  await here.rooms.gained([shardOf(accountId)]);
  const [leader, follower] = [await here.edge(accountId), await here.edge(accountId)];
  t.is(leader.beat().role, 'leader');
  here.lapsed = true;
  here.clock.advance(120_000);
  here.asked.length = 0;
  const sent = leader.connection.frames.length;
  t.is(await here.rooms.deliver(accountId, []), null);
  for (const edge of [leader, follower]) {
    t.throws(() => edge.beat(), { instanceOf: TypeError });
    t.is(edge.connection.closedWith, 'SERVICE_UNAVAILABLE');
  }
  await settle();
  t.deepEqual(here.asked, [], 'the account is asked for nothing');
  t.is(leader.connection.frames.length, sent);
  // Nobody took its shards meanwhile: the edges come back, and one leads.
  here.lapsed = false;
  t.is(codeOf(await here.connect(accountId, follower)), 'accepted');
  await here.pass(40, follower);
  t.is(follower.role, 'leader');
});
