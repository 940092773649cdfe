/** Work for an account where it lives: what is done again after an answer that did not come is known to be doubtful. */
import test from 'ava';
import { unavailable } from '../../../actors/kernel/envelope.ts';
import { createClusterAccounts } from '../../../cluster/accounts.ts';
import { MOVED } from '../../../cluster/listener.ts';
import type { Owner } from '../../../cluster/membership.ts';
import type { Called } from '../../../cluster/peers.ts';
import { Router } from '../../../cluster/router.ts';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { HandClock } from '../../support/clock.ts';
import { rounds } from '../../support/until.ts';

const ACCOUNT = accountIdOf('org_a', 'live');
const HERE: Owner = { node: 'a', url: 'http://a', epoch: 1 },
  THERE: Owner = { node: 'b', url: 'http://b', epoch: 1 };

/** A router of node a; who owns the account, and what calls to others come to, is said look by look. */
function routing(owners: readonly (Owner | null)[], calls: readonly Called[]) {
  const clock = new HandClock();
  let looks = 0;
  const sent: { key?: string; command?: AccountCommand }[] = [];
  const router = new Router({
    nodeId: 'a',
    clock,
    membership: {
      ownerOf: () => owners[Math.min(looks, owners.length - 1)]!,
      refresh: async () => void (looks += 1),
    },
    peers: {
      call: async (_url, _path, message) => {
        sent.push(message);
        return calls[Math.min(sent.length, calls.length) - 1]!;
      },
    },
  });
  /** Lets the pauses pass until the work is done. */
  const ended = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    void work.finally(() => (isDone = true)).catch(() => undefined);
    for (let turn = 0; turn < 400 && !isDone; turn += 1) {
      await rounds(2);
      clock.advance(100);
    }
    return work;
  };
  return { router, sent, ended };
}

const unknown: Called = { kind: 'unknown', reason: 'cut' },
  notTaken: Called = { kind: 'not_taken', reason: 'refused' },
  moved: Called = { kind: 'moved' };

for (const [called, isDoubtful] of [
  [unknown, true],
  [notTaken, false],
  [moved, false],
] as const) {
  test(`work that another node answered with "${called.kind}" and that is this node’s by then is done here, ${isDoubtful ? 'as work that may be done already' : 'as new'}`, async (t) => {
    const { router, sent, ended } = routing([THERE, HERE], [called]);
    const doubts: boolean[] = [];
    const local = async (doubtful: boolean) => {
      doubts.push(doubtful);
      return 'done';
    };
    const routed = await ended(router.route(ACCOUNT, { path: '/x', message: {}, once: true, local }));
    t.deepEqual([routed, doubts, sent.length], [{ kind: 'done', reply: 'done' }, [isDoubtful], 1]);
  });
}

test('work that nobody answers ends as unanswered, under one key for all its tries; without a try as unavailable', async (t) => {
  const { router, sent, ended } = routing([THERE], [unknown, notTaken]);
  const local = async () => MOVED as typeof MOVED;
  t.deepEqual(await ended(router.route(ACCOUNT, { path: '/x', message: {}, once: true, local })), {
    kind: 'unanswered',
  });
  t.true(sent.length > 1);
  t.is(new Set(sent.map(({ key }) => key)).size, 1);
  const idle = routing([null], []);
  t.deepEqual(await idle.ended(idle.router.route(ACCOUNT, { path: '/x', message: {}, local })), {
    kind: 'unavailable',
  });
});

test('a command without a key of its own is done once where its first owner may have done it: its answer is found', async (t) => {
  const { router, sent, ended } = routing([THERE, HERE], [unknown]);
  const here: AccountCommand[] = [],
    looked: string[] = [];
  const { accounts } = createClusterAccounts({
    router,
    membership: { serves: () => true, stillOwns: async () => true },
    newCallId: () => 'call-1',
    local: {
      ask: async (_accountId, command) => {
        here.push(command);
        return { ok: 'duplicate' } as never;
      },
      wake: async () => undefined,
    },
    reads: {
      idempotent: async (_accountId, method, path, key) => {
        looked.push(`${method} ${path} ${key}`);
        return { bodyHash: '', status: 200, body: { found: true } } as never;
      },
    },
  });
  const command = { type: 'abandon_withdrawal', known: {} } as never;
  t.deepEqual(await ended(accounts.ask(ACCOUNT, command)), { ok: true, reply: { found: true } } as never);
  const claims = [sent[0]!.command, here[0]].map((one) => (one as { idempotency?: { key: string } }).idempotency?.key);
  t.deepEqual(claims, ['call-1', 'call-1'], 'both tries are under one key');
  t.deepEqual(looked, ['CALL abandon_withdrawal call-1']);
});

for (const [what, command, answered] of [
  ['under a key of its caller', { type: 'create_address', idempotency: { key: 'k' } }, 'duplicate'],
  ['that changes nothing', { type: 'inspect' }, true],
] as const) {
  test(`a command ${what} that was at work when its account left is asked for once more, where the account is by then`, async (t) => {
    const { router, sent, ended } = routing([HERE, THERE], [{ kind: 'answered', reply: { ok: answered, reply: 1 } }]);
    let asked = 0;
    const { accounts, operations } = leaving(router, () => (asked += 1));
    const answer = await ended(accounts.ask(ACCOUNT, command as never));
    t.is((answer as { ok: unknown }).ok, answered);
    t.deepEqual([asked, sent.length], [1, 1]);
    t.deepEqual((sent[0]!.command as { idempotency?: unknown }).idempotency, (command as object as Keyed).idempotency);
    // For another node that is no answer, so that it asks again.
    await t.throwsAsync(() => operations['/accounts/ask']!({ accountId: ACCOUNT, command } as never));
  });
}

test('a command without a key that was at work when its account left is not done twice: nobody knows, and the caller reads so', async (t) => {
  const { router, sent, ended } = routing([HERE, THERE], [{ kind: 'answered', reply: { ok: true, reply: 1 } }]);
  let asked = 0;
  const { accounts } = leaving(router, () => (asked += 1));
  t.like(await ended(accounts.ask(ACCOUNT, { type: 'create_address' } as never)), {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'the node of this account did not answer', retryAfterSeconds: 1 },
  });
  t.deepEqual([asked, sent.length], [1, 0]);
});

interface Keyed {
  readonly idempotency?: unknown;
}

/** Accounts of a node that each of them leaves while it is at work. */
function leaving(router: Router, onAsk: () => void) {
  return createClusterAccounts({
    router,
    membership: { serves: () => true, stillOwns: async () => false },
    newCallId: () => 'call-1',
    local: {
      ask: async () => {
        onAsk();
        return unavailable('abandoned') as never;
      },
      wake: async () => undefined,
    },
    reads: { idempotent: async () => null },
  });
}
