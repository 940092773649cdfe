import test from 'ava';
import fc from 'fast-check';
import { commands, enrolled, OTHER_IDENTITY, pushedKey, pushedPool } from '../../support/account.ts';
import { codeOf, opened, settle, TestEdge } from '../../support/edge-rooms.ts';

test('§2.8 the first session leads, a further one follows; welcome says role, epoch and times', async (t) => {
  const node = await opened(),
    account = node.add();
  const first = await node.edge(account),
    second = await node.edge(account);
  t.like(first.joined.welcome, {
    sessionId: first.sessionId,
    role: 'leader',
    leaseEpoch: 1,
    leaseTtlMs: 30_000,
    heartbeatMs: 30_000,
  });
  t.like(second.joined.welcome, { role: 'follower', leaseEpoch: 1 });
  t.deepEqual([...node.rooms.leaders()], [account]);
  t.deepEqual(node.rooms.liveSessions(account), [first.sessionId, second.sessionId]);
  t.is(node.rooms.streamCount, 2);
});

test('decisions 3: the leader keeps its lease by heartbeats on the stream; renewals ask the account nothing', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const asked = node.asked.length;
  await node.pass(300, leader, follower);
  t.deepEqual([leader.role, leader.epoch, follower.role], ['leader', 1, 'follower']);
  t.is(node.asked.length, asked);
  t.is(node.accounts.get(account)!.state.lease.epoch, 1);
});

test('decisions 3: a leader that was killed: its stream closes, ten seconds of grace, then the longest-live follower leads', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account);
  await node.pass(1);
  const senior = await node.edge(account);
  await node.pass(1);
  const junior = await node.edge(account);
  leader.joined.left(true);
  t.deepEqual([...node.rooms.leaders()], []);
  t.deepEqual(node.lost, [account]);
  await node.pass(9, senior, junior);
  t.deepEqual(senior.connection.of('lease'), []);
  await node.pass(2, senior, junior);
  t.deepEqual(senior.connection.of('lease'), [{ role: 'leader', leaseEpoch: 2, leaseTtlMs: 30_000 }]);
  t.deepEqual(junior.connection.of('lease'), [{ role: 'follower', leaseEpoch: 2, leaseTtlMs: 30_000 }]);
  t.deepEqual([...node.rooms.leaders()], [account]);
  t.is(node.rung.at(-1), account);
});

test('decisions 3: a leader that comes back within the grace time keeps lease and epoch', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  leader.joined.left(true);
  await node.pass(8, follower);
  await node.connect(account, leader);
  t.like(leader.joined.welcome, { role: 'leader', leaseEpoch: 1 });
  await node.pass(60, leader, follower);
  t.deepEqual([leader.role, node.accounts.get(account)!.state.lease.epoch], ['leader', 1]);
});

test('decisions 3: a frozen leader loses the lease when its TTL is over, not when its stream stops answering pings', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  await node.pass(10, leader, follower);
  await node.pass(5, follower);
  leader.joined.left(false);
  await node.pass(23, follower);
  t.deepEqual(follower.connection.of('lease'), []);
  await node.pass(4, follower);
  t.is(follower.connection.of('lease').at(-1)!.role, 'leader');
  t.is(node.accounts.get(account)!.state.lease.epoch, 2);
});

test('a leader that wakes up while another is being granted the lease does not get it back meanwhile', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const grant = node.hold('claim_lease');
  await node.pass(31, follower);
  t.is(leader.beat().role, 'follower');
  grant();
  await node.pass(1, follower);
  t.is(follower.connection.of('lease').at(-1)!.role, 'leader');
  t.is(node.accounts.get(account)!.state.lease.epoch, 2);
});

test('decisions 3: the grace of a stream that closed does not lengthen a lease that would have run out before', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  await node.pass(25, follower);
  leader.joined.left(true);
  await node.pass(4, follower);
  t.deepEqual(follower.connection.of('lease'), []);
  await node.pass(2, follower);
  t.is(follower.connection.of('lease').at(-1)!.role, 'leader');
});

test('a follower that is silent itself does not get the lease before it speaks', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  await node.pass(70, leader);
  leader.joined.left(true);
  await node.pass(15);
  t.deepEqual(follower.connection.of('lease'), []);
  follower.beat();
  await node.pass(1);
  t.is(follower.connection.of('lease').at(-1)!.role, 'leader');
});

test('decisions 3: a session that arrives when a lease has run out does not overtake the one that has been live longest', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    senior = await node.edge(account);
  node.clock.advance(500);
  leader.joined.left(true);
  await node.pass(9, senior);
  node.clock.advance(1_100);
  t.is((await node.edge(account)).role, 'follower');
  await node.pass(1, senior);
  t.is(senior.connection.of('lease').at(-1)!.role, 'leader');
});

test('a session that arrives when the lease of a silent leader has just run out leads at once, and deliveries go to it', async (t) => {
  const node = await opened(),
    account = node.add();
  const silent = await node.edge(account);
  node.clock.advance(500);
  silent.beat();
  node.clock.advance(30_050);
  const rung = node.rung.length;
  const newcomer = await node.edge(account);
  t.like(newcomer.joined.welcome, { role: 'leader', leaseEpoch: 2 });
  t.is(node.rung.length, rung + 1);
  await node.rooms.deliver(account, []);
  t.is(newcomer.connection.of('deliver').length, 1);
});

test('§7 a leader that was replaced and speaks under its old epoch: LEASE_EPOCH_STALE', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  await node.pass(33, follower);
  t.like(leader.beat(1), { ok: false, code: 'LEASE_EPOCH_STALE', role: 'follower', leaseEpoch: 2 });
  t.like(await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 1, attempts: [] }), {
    ok: false,
    code: 'LEASE_EPOCH_STALE',
  });
  t.deepEqual(node.reported, []);
  t.true(leader.beat(2).ok);
});

test('a follower that is late to learn the new epoch is told it, not thrown out', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account),
    other = await node.edge(account);
  leader.joined.left(true);
  await node.pass(12, follower);
  t.like(other.beat(1), { ok: true, role: 'follower', leaseEpoch: 2 });
});

test('I19 attempts under the lease are handed on and acknowledged when they are durable; of a follower never', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  const attempts = [
    {
      deliveryId: 'dlv_1',
      attempt: 1,
      statusCode: 200,
      durationMs: 3,
      retryAfterSeconds: null,
      outcome: 'answered' as const,
    },
  ];
  t.deepEqual(await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 1, attempts }), { ok: true });
  t.deepEqual(node.reported, [{ accountId: account, attempts }]);
  t.is(
    (await follower.joined.attempts({ sessionId: follower.sessionId, leaseEpoch: 1, attempts })).code,
    'LEASE_EPOCH_STALE',
  );
  t.is(
    (await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 0, attempts })).code,
    'LEASE_EPOCH_STALE',
  );
  node.failReports = true;
  t.deepEqual(await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 1, attempts }), {
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
  });
});

test('decisions 3: after a restart of the node the lease counts as held for one TTL', async (t) => {
  const node = await opened(),
    account = node.add();
  await node.edge(account);
  await node.pass(3);
  await node.restart();
  const newcomer = await node.edge(account);
  t.like(newcomer.joined.welcome, { role: 'follower', leaseEpoch: 1 });
  await node.pass(28, newcomer);
  t.is(newcomer.role, 'follower');
  await node.pass(4, newcomer);
  t.is(newcomer.connection.of('lease').at(-1)!.leaseEpoch, 2);
});

test('a leader that leaves while its frame is made is asked nothing: the next question is for the one that leads then', async (t) => {
  for (const meanwhile of ['it left', 'it was closed', 'it came back'] as const) {
    const node = await opened(),
      account = node.add();
    const edge = await node.edge(account),
      first = edge.connection;
    node.readingInstruction = async () => {
      if (meanwhile === 'it was closed') await node.rooms.close(account, 'UNAUTHORIZED');
      else edge.joined.left(true);
      if (meanwhile === 'it came back') await node.connect(account, edge);
    };
    const answered = codeOf(await node.rooms.askToSign(account, 'txn_1'));
    t.is(answered, meanwhile === 'it came back' ? 'accepted' : 'EDGE_NO_LEADER', meanwhile);
    t.is(first.of('sign').length, 0, meanwhile);
    if (meanwhile === 'it came back') t.is(edge.connection.of('sign').length, 1);
  }
});

test('after a restart of the node the leader comes back under its epoch', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account);
  await node.pass(3);
  await node.restart();
  await node.connect(account, leader);
  t.like(leader.joined.welcome, { role: 'leader', leaseEpoch: 1 });
});

test("§7 broadcast at the cloud: EDGE_OFFLINE without a session, EDGE_NO_LEADER without a lease, else the leader's word", async (t) => {
  const node = await opened(),
    account = node.add();
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'EDGE_OFFLINE');
  const leader = await node.edge(account),
    follower = await node.edge(account);
  leader.connection.answer = (frame) =>
    frame === 'sign' ? { ok: false, code: 'SIGNED_BATCH_REJECTED', details: { reason: 'no_instruction' } } : null;
  t.deepEqual(await node.rooms.askToSign(account, 'txn_1'), {
    ok: false,
    code: 'SIGNED_BATCH_REJECTED',
    details: { reason: 'no_instruction' },
  });
  t.deepEqual(leader.connection.of('sign'), [{ leaseEpoch: 1, transactionId: 'txn_1', record: null }]);
  leader.connection.answer = () => null;
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'SERVICE_UNAVAILABLE');
  leader.joined.left(true);
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'EDGE_NO_LEADER');
  t.is(follower.connection.of('sign').length, 0);
});

test('found part 2: while a leader is asked for a signature it is not asked for it again', async (t) => {
  const node = await opened(),
    account = node.add(),
    leader = await node.edge(account),
    open = Promise.withResolvers<object>();
  leader.connection.answer = (frame) => (frame === 'sign' ? open.promise : null);
  const asks = ['txn_1', 'txn_1', 'txn_2'].map((id) => node.rooms.askToSign(account, id));
  await settle();
  t.is(leader.connection.of('sign').length, 2);
  open.resolve({ ok: false, code: 'CONFLICT', details: {} });
  t.deepEqual((await Promise.all(asks)).map(codeOf), ['CONFLICT', 'CONFLICT', 'CONFLICT']);
  t.deepEqual(
    leader.connection.of('sign').map((body) => (body as { transactionId: string }).transactionId),
    ['txn_1', 'txn_2'],
  );
  await node.rooms.askToSign(account, 'txn_1');
  t.is(leader.connection.of('sign').length, 3, 'once it was answered it is asked anew');
});

test('spec §7 broadcast at the cloud: where the only edge stopped in order it is EDGE_OFFLINE at once, and a follower that stays is no leader yet', async (t) => {
  const node = await opened(),
    account = node.add(),
    only = await node.edge(account);
  t.true(await node.rooms.anyLive(account));
  t.deepEqual(await only.joined.release(only.epoch), { ok: true });
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'EDGE_OFFLINE', 'it still says goodbye');
  only.joined.left(true);
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'EDGE_OFFLINE');
  t.false(await node.rooms.anyLive(account));
  await node.connect(account, only);
  t.true(await node.rooms.anyLive(account), 'it came back');
});

test('deliveries go to the leader only, under its epoch; without one nobody gets them', async (t) => {
  const node = await opened(),
    account = node.add();
  t.is(await node.rooms.deliver(account, []), null);
  const leader = await node.edge(account);
  await node.edge(account);
  const delivery = {
    deliveryId: 'dlv_1',
    attempt: 1,
    url: 'https://x.example/',
    headers: {},
    body: '{}',
    timeoutMs: 15_000,
  };
  t.deepEqual(await node.rooms.deliver(account, [delivery]), { ok: true });
  t.deepEqual(leader.connection.of('deliver'), [{ leaseEpoch: 1, deliveries: [delivery] }]);
  leader.connection.answer = () => 'nonsense';
  t.is(await node.rooms.deliver(account, [delivery]), null);
});

test('decisions 3: the lease as it is shown ends with its TTL and is vacant after', async (t) => {
  const node = await opened(),
    account = node.add();
  t.is(await node.rooms.leaseExpiresAtMs(account), null);
  const edge = await node.edge(account);
  t.is(await node.rooms.leaseExpiresAtMs(account), node.clock.nowMs() + 30_000);
  await node.pass(5);
  t.is(await node.rooms.leaseExpiresAtMs(account), node.clock.nowMs() + 25_000);
  edge.joined.left(true);
  t.is(await node.rooms.leaseExpiresAtMs(account), node.clock.nowMs() + 10_000);
  await node.pass(11);
  t.is(await node.rooms.leaseExpiresAtMs(account), null);
});

test('§5.7 closing all streams of an account: each is told why; a new identity leads without waiting for the old lease', async (t) => {
  const node = await opened(),
    test = enrolled(),
    account = node.add(test);
  const old = await node.edge(account),
    follower = await node.edge(account);
  test.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)], rotationId: 'rot_2' }));
  node.rooms.close(account, 'IDENTITY_ROTATION_PENDING');
  t.deepEqual(
    [old, follower].map(({ connection }) => connection.closedWith),
    ['IDENTITY_ROTATION_PENDING', 'IDENTITY_ROTATION_PENDING'],
  );
  t.deepEqual([...node.rooms.leaders()], []);
  t.is(codeOf(await node.connect(account, new TestEdge())), 'IDENTITY_ROTATION_PENDING');
  test.accept({
    type: 'decide_rotation',
    rotationId: 'rot_2',
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: ['adr_1', 'adr_2'],
  });
  t.like((await node.edge(account)).joined.welcome, { role: 'leader', leaseEpoch: 2 });
});

test('decisions 3: a new leader is asked for pool addresses where the stock is low, and again after each issue', async (t) => {
  const test = enrolled({}, { keys: [], pools: [pushedPool('sol', 5)] });
  const node = await opened(),
    account = node.add(test);
  const stock = pushedPool('sol', 5).addresses;
  for (let issued = 0; issued < 5; issued += 1) test.accept(commands.createAddress({ chain: 'sol', unissued: stock }));
  const leader = await node.edge(account);
  const asked = { leaseEpoch: 1, chain: 'sol', from: 5, count: 1_000 };
  t.deepEqual(leader.connection.of('replenish'), []);
  const answers: ((answer: unknown) => void)[] = [];
  leader.connection.answer = (frame) =>
    frame === 'replenish' ? new Promise((resolve) => answers.push(resolve)) : { ok: true };
  leader.joined.begun();
  await settle();
  t.deepEqual(leader.connection.of('replenish'), [asked]);
  await Promise.all(Array.from({ length: 50 }, () => node.rooms.replenish(account)));
  await node.pass(20, leader);
  t.deepEqual(leader.connection.of('replenish'), [asked], 'found pool storm: what is under way is not asked for again');
  answers.shift()!({ ok: false, code: 'EDGE_OUTBOX_FULL' });
  await settle();
  await node.rooms.replenish(account);
  t.is(leader.connection.of('replenish').length, 1, 'a refill that brought nothing is not asked for again at once');
  await node.pass(2, leader);
  await node.rooms.replenish(account);
  t.deepEqual(leader.connection.of('replenish')[1], { ...asked, count: 2_000 }, 'used up fast: twice as much');
  leader.joined.left(true);
  await node.rooms.replenish(account);
  t.is(leader.connection.of('replenish').length, 2);
});

test('found pool storm: a refill ends with its stream: the next leader is asked, and the answer of the one before changes nothing', async (t) => {
  const test = enrolled({}, { keys: [], pools: [pushedPool('sol', 5)] });
  const node = await opened(),
    account = node.add(test);
  for (let issued = 0; issued < 5; issued += 1)
    test.accept(commands.createAddress({ chain: 'sol', unissued: pushedPool('sol', 5).addresses }));
  const never = () => new Promise<never>(() => undefined);
  const first = await node.edge(account);
  first.connection.answer = never;
  first.joined.begun();
  await settle();
  t.is(first.connection.of('replenish').length, 1);
  first.joined.left(true);
  await node.pass(12);
  const second = await node.edge(account);
  second.connection.answer = never;
  second.joined.begun();
  await settle();
  t.is(second.connection.of('replenish').length, 1);
  await Promise.all(Array.from({ length: 9 }, () => node.rooms.replenish(account)));
  t.is(second.connection.of('replenish').length, 1);
});

test('under any story of closing, freezing and coming back at most one edge leads by its own belief, and epochs only rise', async (t) => {
  const act = fc.record({
    edge: fc.nat({ max: 2 }),
    act: fc.constantFrom('close' as const, 'freeze' as const, 'wake' as const, 'back' as const),
    seconds: fc.integer({ min: 1, max: 20 }),
  });
  await t.notThrowsAsync(
    fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (story) => {
        const node = await opened(),
          account = node.add();
        const edges = [new TestEdge(), new TestEdge(), new TestEdge()];
        const up = new Set<TestEdge>(),
          frozen = new Set<TestEdge>(),
          believesUntilMs = new Map<TestEdge, number>();
        const believe = (edge: TestEdge, sentMs: number) =>
          believesUntilMs.set(edge, edge.role === 'leader' ? sentMs + 28_000 : 0);
        let epoch = 0;
        for (const edge of edges) {
          await node.connect(account, edge);
          up.add(edge);
          believe(edge, node.clock.elapsedMs());
        }
        for (const { edge: nth, act: what, seconds } of story) {
          const edge = edges[nth]!;
          if (what === 'close' && up.has(edge) && !frozen.has(edge)) {
            up.delete(edge);
            edge.joined.left(true);
            believesUntilMs.set(edge, Math.min(believesUntilMs.get(edge)!, node.clock.elapsedMs() + 8_000));
          } else if (what === 'freeze' && up.has(edge)) frozen.add(edge);
          else if (what === 'wake') frozen.delete(edge);
          else if (what === 'back' && !up.has(edge)) {
            await node.connect(account, edge);
            up.add(edge);
            believe(edge, node.clock.elapsedMs());
          }
          for (let second = 0; second < seconds; second += 1) {
            node.clock.advance(1_000);
            await settle();
            for (const each of up) {
              if (frozen.has(each)) continue;
              const hinted = each.connection.of('lease').at(-1);
              if (hinted !== undefined && (hinted.leaseEpoch as number) > each.epoch) {
                Object.assign(each, { epoch: hinted.leaseEpoch, role: 'follower' });
                believesUntilMs.set(each, 0);
              }
              const reply = each.beat();
              if (reply.ok) believe(each, node.clock.elapsedMs());
              else {
                each.role = 'follower';
                believesUntilMs.set(each, 0);
                each.joined.left(true);
                up.delete(each);
              }
            }
            const leading = edges.filter((each) => (believesUntilMs.get(each) ?? 0) > node.clock.elapsedMs());
            if (leading.length > 1) return false;
            const now = node.accounts.get(account)!.state.lease.epoch;
            if (now < epoch) return false;
            epoch = now;
          }
        }
        return true;
      }),
      { numRuns: 40 },
    ),
  );
});

test('house 9: a lease that was granted without an answer: the one before leads no more, and the account is asked who does', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    follower = await node.edge(account);
  node.unanswered.add('claim_lease');
  node.failing.add('inspect');
  await node.pass(31, follower);
  t.deepEqual(node.accounts.get(account)!.state.lease, { epoch: 2, holder: follower.sessionId });
  t.like(leader.beat(), { ok: true, role: 'follower' }, 'its epoch is over at the account');
  t.like(await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 1, attempts: [] }), {
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
  });
  t.like(await leader.joined.release(1), { ok: false, code: 'SERVICE_UNAVAILABLE' });
  t.deepEqual([...node.rooms.leaders()], []);
  node.unanswered.clear();
  node.failing.clear();
  await node.pass(1, follower);
  t.like(follower.connection.of('lease').at(-1), { role: 'leader', leaseEpoch: 2 });
  t.deepEqual([...node.rooms.leaders()], [account]);
  t.like(leader.beat(1), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.is(node.accounts.get(account)!.state.lease.epoch, 2, 'nothing was granted twice');
});

test('house 9: a stream whose claim has no answer and that does not come back holds nobody up for longer than a TTL', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account);
  leader.joined.left(true);
  await node.pass(11);
  node.unanswered.add('claim_lease');
  t.is(codeOf(await node.connect(account, new TestEdge())), 'SERVICE_UNAVAILABLE');
  node.unanswered.clear();
  node.failing.add('inspect');
  await node.pass(1);
  t.is(codeOf(await node.connect(account, leader)), 'SERVICE_UNAVAILABLE');
  node.failing.clear();
  await node.connect(account, leader);
  t.is(leader.role, 'follower');
  await node.pass(31, leader);
  t.like(leader.connection.of('lease').at(-1), { role: 'leader', leaseEpoch: 3 });
});

test('decisions 3: a leader that stops in order releases its lease: a follower leads at once, in the next epoch', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account),
    senior = await node.edge(account),
    junior = await node.edge(account);
  t.deepEqual(await leader.joined.release(leader.epoch), { ok: true });
  await settle();
  t.deepEqual(senior.connection.of('lease'), [{ role: 'leader', leaseEpoch: 2, leaseTtlMs: 30_000 }]);
  t.deepEqual(junior.connection.of('lease'), [{ role: 'follower', leaseEpoch: 2, leaseTtlMs: 30_000 }]);
  t.like(leader.beat(), { ok: false, code: 'LEASE_EPOCH_STALE' }, 'one that believes in its old epoch all the same');
  t.like(await leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: 1, attempts: [] }), {
    ok: false,
    code: 'LEASE_EPOCH_STALE',
  });
  t.like(await junior.joined.release(2), { ok: false, code: 'LEASE_EPOCH_STALE' }, 'only the leader has one to give');
  t.like(await senior.joined.release(1), { ok: false, code: 'LEASE_EPOCH_STALE' });
});

test('a leader that stops alone is not granted the lease again while its stream closes; its successor leads from the first moment', async (t) => {
  const node = await opened(),
    account = node.add();
  const leader = await node.edge(account);
  await leader.joined.release(1);
  await node.pass(5);
  t.deepEqual(node.accounts.get(account)!.state.lease, { epoch: 1, holder: null });
  t.is(codeOf(await node.rooms.askToSign(account, 'txn_1')), 'EDGE_OFFLINE');
  leader.joined.left(true);
  const next = await node.edge(account);
  t.like(next.joined.welcome, { role: 'leader', leaseEpoch: 2 });
});

const tried = (deliveryId: string) => ({
  deliveryId,
  attempt: 1,
  url: 'https://shop.example/hook',
  headers: {},
  body: '{}',
  timeoutMs: 8_000,
});
const answered = (deliveryId: string, statusCode = 204) => ({
  deliveryId,
  attempt: 1,
  statusCode,
  durationMs: 5,
  retryAfterSeconds: null,
  outcome: 'answered' as const,
});

test('ecosystem X21 a delivery that is tried goes to the leader once, and its attempt to who waits: nothing of it is recorded', async (t) => {
  const node = await opened(),
    account = node.add();
  t.is(codeOf(await node.rooms.tryDelivery(account, tried('dlv_1'))), 'EDGE_OFFLINE');
  const leader = await node.edge(account);
  const waiting = [node.rooms.tryDelivery(account, tried('dlv_1')), node.rooms.tryDelivery(account, tried('dlv_1'))];
  await settle();
  t.deepEqual(leader.connection.of('deliver'), [{ leaseEpoch: 1, deliveries: [tried('dlv_1')] }]);
  const report = (...attempts: ReturnType<typeof answered>[]) =>
    leader.joined.attempts({ sessionId: leader.sessionId, leaseEpoch: leader.epoch, attempts });
  t.deepEqual(await report(answered('dlv_1'), answered('dlv_2')), { ok: true });
  t.deepEqual(await Promise.all(waiting), [answered('dlv_1'), answered('dlv_1')]);
  t.deepEqual(node.reported, [{ accountId: account, attempts: [answered('dlv_2')] }], 'of others all is recorded');
  node.failReports = true;
  void node.rooms.tryDelivery(account, tried('dlv_3'));
  await settle();
  t.deepEqual(await report(answered('dlv_3', 401)), { ok: true }, 'the database is not asked');
});

test('ecosystem X21 a delivery that is tried ends: the edge does not take it, says nothing, or has ten of the account', async (t) => {
  const node = await opened(),
    account = node.add(),
    other = node.add(enrolled({ environment: 'sandbox' }));
  const leader = await node.edge(account);
  const elsewhere = await node.edge(other);
  leader.connection.answer = () => ({ ok: false, code: 'EDGE_OUTBOX_FULL' });
  t.is(codeOf(await node.rooms.tryDelivery(account, tried('dlv_0'))), 'SERVICE_UNAVAILABLE');
  leader.connection.answer = () => ({ ok: true });
  const waiting = Array.from({ length: 10 }, (_, at) => node.rooms.tryDelivery(account, tried(`dlv_${at}`)));
  t.is(codeOf(await node.rooms.tryDelivery(account, tried('dlv_10'))), 'RATE_LIMIT_EXCEEDED');
  const theirs = node.rooms.tryDelivery(other, tried('dlv_11'));
  await settle();
  const { sessionId, epoch: leaseEpoch } = elsewhere;
  await elsewhere.joined.attempts({ sessionId, leaseEpoch, attempts: [answered('dlv_0'), answered('dlv_11')] });
  t.deepEqual(await theirs, answered('dlv_11'), 'no account ends the attempts of another');
  await node.pass(10, leader, elsewhere);
  t.deepEqual(
    (await Promise.all(waiting)).map(codeOf),
    waiting.map(() => 'SERVICE_UNAVAILABLE'),
  );
});
