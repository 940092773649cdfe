import test from 'ava';
import fc from 'fast-check';
import { beliefMs, Lease } from '../../../edge/link/lease.ts';
import { leaseGraceMs, leaseRenewMs } from '../../../protocol/frames.ts';

const TTL_MS = 30_000,
  GRACE_MS = 10_000,
  BELIEF_MS = 8_000;

function newLease(): { lease: Lease; clock: { nowMs: number } } {
  const clock = { nowMs: 1_000 };
  return { lease: new Lease(() => clock.nowMs), clock };
}

test('reliability 1.3: a lease ends the grace − 2 s after its request was SENT, by the monotonic clock', (t) => {
  const { lease, clock } = newLease();
  clock.nowMs = 6_000; // The answer took 5 s.
  t.true(lease.grant({ role: 'leader', leaseEpoch: 3, leaseTtlMs: TTL_MS, sentAtMs: 1_000 }));
  t.true(lease.mayAct(3));
  clock.nowMs = 1_000 + BELIEF_MS - 1;
  t.true(lease.mayAct(3));
  clock.nowMs += 1;
  t.false(lease.mayAct(3));
  t.deepEqual(lease.view(), { role: 'follower', leaseEpoch: 3, held: false });
});

test('how long a replica has not led counts from its start, from the end of its belief, or from the frame that took the lease', (t) => {
  const { lease, clock } = newLease();
  clock.nowMs = 1_500;
  t.is(lease.followingMs(), 500);
  lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: 1_500 });
  t.is(lease.followingMs(), 0);
  clock.nowMs = 1_500 + BELIEF_MS + 70;
  t.is(lease.followingMs(), 70);
  lease.grant({ role: 'follower', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: clock.nowMs });
  t.is(lease.followingMs(), 70, 'told late');
  lease.grant({ role: 'leader', leaseEpoch: 2, leaseTtlMs: TTL_MS, sentAtMs: clock.nowMs });
  clock.nowMs += 100;
  t.is(lease.followingMs(), 0);
  lease.hint({ role: 'follower', leaseEpoch: 3 });
  clock.nowMs += 5;
  lease.lose();
  t.is(lease.followingMs(), 5);
});

test('§7 an epoch below the highest one seen is not believed; acting needs the very epoch', (t) => {
  const { lease } = newLease();
  lease.grant({ role: 'leader', leaseEpoch: 5, leaseTtlMs: TTL_MS, sentAtMs: 1_000 });
  t.false(lease.grant({ role: 'leader', leaseEpoch: 4, leaseTtlMs: TTL_MS, sentAtMs: 1_000 }));
  t.true(lease.mayAct(5));
  t.false(lease.mayAct(4));
  t.false(lease.mayAct(6));
});

test('a pushed frame takes leadership away at once and never gives or extends it', (t) => {
  const { lease, clock } = newLease();
  t.true(lease.hint({ role: 'leader', leaseEpoch: 1 }), 'the cloud must be asked');
  t.false(lease.mayAct(1));
  lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: 1_000 });
  clock.nowMs = 8_000;
  t.true(lease.hint({ role: 'leader', leaseEpoch: 1 }));
  clock.nowMs = 1_000 + BELIEF_MS;
  t.false(lease.mayAct(1), 'the hint extended nothing');
  lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: clock.nowMs });
  t.false(lease.hint({ role: 'follower', leaseEpoch: 2 }));
  t.false(lease.mayAct(1));
  t.false(lease.mayAct(2));
  lease.grant({ role: 'leader', leaseEpoch: 2, leaseTtlMs: TTL_MS, sentAtMs: clock.nowMs });
  t.false(lease.hint({ role: 'follower', leaseEpoch: 2 }), 'released elsewhere: its epoch stays');
  t.false(lease.mayAct(2));
});

test('an answer that a newer one of the same epoch overtook does not shorten the lease', (t) => {
  const { lease, clock } = newLease();
  lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: 10_000 });
  lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: TTL_MS, sentAtMs: 2_000 });
  clock.nowMs = 10_000 + BELIEF_MS - 1;
  t.true(lease.mayAct(1));
});

test('decisions 3: a lease is believed for less than the grace, whatever the TTL: the cloud may see the stream end alone', (t) => {
  for (const ttlMs of [6_000, 12_000, TTL_MS, 600_000, 86_400_000]) {
    t.true(
      beliefMs(ttlMs) < leaseGraceMs(ttlMs) && beliefMs(ttlMs) > 2 * leaseRenewMs(Math.min(ttlMs, 600_000)),
      String(ttlMs),
    );
  }
  t.is(beliefMs(TTL_MS), BELIEF_MS);
  t.is(beliefMs(86_400_000), beliefMs(600_000), 'a cloud that says more than it may is not believed');
});

/**
 * A cloud that grants correctly to two replicas over a network that delays answers, freezes replicas and ends streams
 * on one side.
 */
test('property: two replicas never both hold the lease, with delayed answers, freezes, pushed frames and streams that only the cloud saw end', (t) => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 12_000 }) }),
    fc.record({
      kind: fc.constant('ask' as const),
      replica: fc.integer({ min: 0, max: 1 }),
      delayMs: fc.integer({ min: 0, max: 40_000 }),
    }),
    fc.record({ kind: fc.constant('closed' as const), replica: fc.integer({ min: 0, max: 1 }) }),
    fc.record({ kind: fc.constant('push' as const), replica: fc.integer({ min: 0, max: 1 }) }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const clock = { nowMs: 0 };
      const replicas = [new Lease(() => clock.nowMs), new Lease(() => clock.nowMs)];
      const cloud = { epoch: 0, holder: -1, untilMs: -1 };
      const answers: { atMs: number; replica: number; grant: Parameters<Lease['grant']>[0] }[] = [];
      const settle = () => {
        for (const answer of answers.filter(({ atMs }) => atMs <= clock.nowMs)) {
          answers.splice(answers.indexOf(answer), 1);
          replicas[answer.replica]!.grant(answer.grant);
        }
        return replicas.filter((lease) => lease.view().held).length <= 1;
      };
      for (const each of moves) {
        if (each.kind === 'pass') clock.nowMs += each.ms;
        if (each.kind === 'push')
          replicas[each.replica]!.hint({
            role: cloud.holder === each.replica ? 'leader' : 'follower',
            leaseEpoch: cloud.epoch,
          });
        if (each.kind === 'closed' && cloud.holder === each.replica)
          cloud.untilMs = Math.min(cloud.untilMs, clock.nowMs + GRACE_MS);
        if (each.kind === 'ask') {
          if (cloud.holder !== each.replica && clock.nowMs >= cloud.untilMs) {
            cloud.holder = each.replica;
            cloud.epoch += 1;
          }
          if (cloud.holder === each.replica) cloud.untilMs = clock.nowMs + TTL_MS;
          const role = cloud.holder === each.replica ? ('leader' as const) : ('follower' as const);
          answers.push({
            atMs: clock.nowMs + each.delayMs,
            replica: each.replica,
            grant: { role, leaseEpoch: cloud.epoch, leaseTtlMs: TTL_MS, sentAtMs: clock.nowMs },
          });
        }
        if (!settle()) return false;
      }
      return true;
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('a pushed frame of a higher epoch gives nothing, not to the leader of before either: the cloud is asked first', (t) => {
  const lease = new Lease(() => 0);
  t.true(lease.grant({ role: 'leader', leaseEpoch: 1, leaseTtlMs: 30_000, sentAtMs: 0 }));
  t.true(lease.hint({ role: 'leader', leaseEpoch: 1 }), 'of its own epoch it takes nothing away');
  t.true(lease.mayAct(1));
  t.true(lease.hint({ role: 'leader', leaseEpoch: 2 }), 'worth asking');
  t.deepEqual(lease.view(), { role: 'follower', leaseEpoch: 2, held: false });
  t.deepEqual([lease.mayAct(1), lease.mayAct(2)], [false, false]);
  lease.grant({ role: 'leader', leaseEpoch: 2, leaseTtlMs: 30_000, sentAtMs: 0 });
  t.true(lease.mayAct(2));
});
