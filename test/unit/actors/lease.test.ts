import test from 'ava';
import fc from 'fast-check';
import { enrolled, TestAccount } from '../../support/account.ts';

const claim = (sessionId: string, liveSessions: string[] = []) =>
  ({ type: 'claim_lease', sessionId, liveSessions }) as const;

test('decisions 3: every grant to another holder raises the epoch by one; a renewal is no event', (t) => {
  const account = enrolled();
  t.deepEqual(account.accept(claim('a')).reply, { epoch: 1, role: 'leader' });
  const renewal = account.accept(claim('a', ['a']));
  t.deepEqual([renewal.reply.epoch, renewal.events.length, renewal.rows.length], [1, 0, 0]);
  t.deepEqual(account.accept(claim('b', ['b'])).reply, { epoch: 2, role: 'leader' });
  t.deepEqual(account.accept(claim('a')).reply, { epoch: 3, role: 'leader' });
});

test('§7 a lease that another live session holds is LEASE_HELD with epoch and holder', (t) => {
  const account = enrolled();
  account.accept(claim('a'));
  t.like(account.refused(claim('b', ['a', 'b'])), { code: 'LEASE_HELD', details: { epoch: 1, holder: 'a' } });
});

test('a lease that was released is vacant; the epoch stays and rises with the next grant', (t) => {
  const account = enrolled();
  account.accept(claim('a'));
  t.is(account.accept({ type: 'release_lease', sessionId: 'b' }).events.length, 0);
  t.deepEqual(account.accept({ type: 'release_lease', sessionId: 'a' }).reply, { epoch: 1 });
  t.deepEqual(account.accept(claim('a', ['a'])).reply, { epoch: 2, role: 'leader' });
});

test('§7 without an enrolment there is no lease: RESYNC_REQUIRED', (t) => {
  t.is(new TestAccount().refused(claim('a')).code, 'RESYNC_REQUIRED');
});

test('I17 epochs only rise, one holder each, under any order of claims and releases', (t) => {
  const session = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({
      type: fc.constant('claim_lease' as const),
      sessionId: session,
      liveSessions: fc.subarray(['a', 'b', 'c']),
    }),
    fc.record({ type: fc.constant('release_lease' as const), sessionId: session }),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const account = enrolled();
        const holders = new Map<number, string>();
        for (const command of steps) {
          const before = account.state.lease;
          account.attempt(command);
          const { epoch, holder } = account.state.lease;
          if (epoch < before.epoch || epoch > before.epoch + 1) return false;
          if (holder !== null && (holders.get(epoch) ?? holder) !== holder) return false;
          if (holder !== null) holders.set(epoch, holder);
        }
        return true;
      }),
    ),
  );
});

test('§3.2 edge_offline and edge_online once per transition; the first contact and staleness are silent', (t) => {
  const account = enrolled();
  const told = (liveness: 'live' | 'stale' | 'down') => {
    const before = account.published().length;
    account.accept({ type: 'note_liveness', liveness });
    return account
      .published()
      .slice(before)
      .map(({ event }) => event);
  };
  t.deepEqual([told('down'), told('live'), told('live'), told('stale')], [[], [], [], []]);
  t.deepEqual(
    [told('down'), told('down'), told('stale'), told('live'), told('live')],
    [['edge_offline'], [], [], ['edge_online'], []],
  );
  t.is(account.state.edge.liveness, 'live');
  const ids = account.published().map(({ id }) => id);
  t.is(new Set(ids).size, ids.length);
});
