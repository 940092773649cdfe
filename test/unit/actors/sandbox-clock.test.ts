/** What falls due on the way of a sandbox's clock: in order, each at its own moment. Ecosystem X75. */
import test from 'ava';
import { advance, clockRound, type ClockParts } from '../../../actors/sandbox/rounds.ts';
import { instantFor } from '../../../actors/account/capabilities.ts';
import type { DueItem } from '../../../model/ports/clock-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

const ACCOUNT = 'acc_sandbox' as AccountId;
const START = 1_700_000_000_000;
type Item = DueItem & { readonly stays?: true };

/** A world whose real time stands still. */
function world(items: readonly Item[], { refuses = false } = {}) {
  let aheadMs = 0;
  let left = [...items];
  const done: { what: string; id: string; atMs: number }[] = [];
  const warned: string[] = [];
  const at = (): number => START + aheadMs;
  const finish = (what: DueItem['what'], id: string): void => {
    const item = left.find((one) => one.what === what && one.id === id)!;
    done.push({ what, id, atMs: at() });
    if (item.stays !== true) left = left.filter((one) => one !== item);
  };
  const parts = {
    stores: {
      clocks: {
        due: (_: AccountId, untilMs: number, limit: number) =>
          Promise.resolve(
            left
              .filter((one) => one.atMs <= untilMs)
              .toSorted((a, b) => a.atMs - b.atMs)
              .slice(0, limit),
          ),
        isDelivering: () => Promise.resolve(false),
        expirePayment: (_: AccountId, id: string, nowMs: number) => {
          if (nowMs !== at()) throw new Error('not at its own moment');
          finish('payment_expiry', id);
          return Promise.resolve(true);
        },
        claim: () => Promise.resolve([ACCOUNT]),
      },
      payments: {
        release: (_: AccountId, id: string) => {
          finish('link_monitored', id);
          return Promise.resolve(true);
        },
      },
    },
    reads: {
      paymentLink: (_: AccountId, id: string) => Promise.resolve({ id, chain: 'eth' }),
      headOf: () => Promise.resolve(null),
      paidAddresses: () => Promise.resolve([]),
    },
    accounts: {
      ask(_: AccountId, command: { type: string; toAheadMs?: number; known?: { id: string }; id?: string }) {
        if (command.type === 'advance_clock') {
          if (refuses) return Promise.resolve({ ok: false, code: 'SANDBOX_ONLY', details: {}, message: '' });
          aheadMs = Math.max(aheadMs, command.toAheadMs!);
        }
        if (command.type === 'close_due_link') finish('link_end', command.known!.id);
        // A policy that went away is noted: nothing is due of it any more.
        if (command.type === 'note_sweep_policy') finish('sweep_policy', command.id!);
        return Promise.resolve({ ok: true, reply: { aheadMs, sweepPolicies: [], closed: true } });
      },
    },
    sandbox: {
      runTimer: (_: AccountId, work: string) => {
        if (work === 'broken') throw new Error('the chain is down');
        finish('confirmation', work);
        return Promise.resolve(true);
      },
    },
    edges: { anyLive: () => Promise.resolve(false), leaseExpiresAtMs: () => Promise.resolve(null) },
    nowMs: () => START,
    log: { warn: (_: object, text: string) => warned.push(text) },
  } as unknown as ClockParts;
  return { parts, done, warned, at, left: () => left.map(({ id }) => id) };
}

const item = (what: DueItem['what'], id: string, afterMs: number, more: Partial<Item> = {}): Item => ({
  what,
  id,
  atMs: START + afterMs,
  work: what === 'sweep_policy' ? '3' : id,
  ...more,
});

test('ecosystem X75 what falls due runs in order, each at its own moment, and the clock ends where it was sent', async (t) => {
  const { parts, done, at } = world([
    item('link_monitored', 'l2', 9_000),
    item('payment_expiry', 'p1', 1_000),
    item('sweep_policy', 's1', 5_000),
    item('confirmation', 'c1', 3_000),
    item('link_end', 'l1', 3_000),
    item('payment_expiry', 'late', 10_001),
  ]);
  const answer = await advance(parts, ACCOUNT, START + 10_000);
  t.deepEqual(answer, {
    nowMs: START + 10_000,
    ran: [
      { atMs: START + 1_000, what: 'payment_expiry', id: 'p1' },
      { atMs: START + 3_000, what: 'confirmation', id: 'c1' },
      { atMs: START + 3_000, what: 'link_end', id: 'l1' },
      { atMs: START + 5_000, what: 'sweep_policy', id: 's1' },
      { atMs: START + 9_000, what: 'link_monitored', id: 'l2' },
    ],
  });
  t.deepEqual(
    done.map(({ atMs }) => atMs - START),
    [1_000, 3_000, 3_000, 5_000, 9_000],
  );
  t.is(at(), START + 10_000);
});

test('ecosystem X75 what waits for something else than time holds up nothing, and stays due', async (t) => {
  const { parts, warned, left } = world([
    item('confirmation', 'broken', 1_000),
    item('delivery_retry', 'without an edge', 2_000),
    item('sweep_policy', 'deferred', 2_500, { stays: true }),
    item('payment_expiry', 'p1', 3_000),
  ]);
  const answer = await advance(parts, ACCOUNT, START + 10_000);
  t.deepEqual('ran' in answer && answer.ran.map(({ id }) => id), ['p1']);
  t.deepEqual(left(), ['broken', 'without an edge', 'deferred']);
  t.is(warned.length, 1);
});

test('ecosystem X75 a call does a thousand things at most, and the next one goes on', async (t) => {
  const { parts } = world(Array.from({ length: 1_500 }, (_, n) => item('payment_expiry', `p${n}`, n + 1)));
  const first = await advance(parts, ACCOUNT, START + 5_000);
  t.like(first, { nowMs: START + 1_000 });
  const second = await advance(parts, ACCOUNT, START + 5_000);
  t.like(second, { nowMs: START + 5_000 });
  t.is('ran' in second ? second.ran.length : 0, 500);
});

test('ecosystem X75 a live account has no such clock; the round leaves retries to the publisher', async (t) => {
  t.like(await advance(world([], { refuses: true }).parts, ACCOUNT, START + 1), { code: 'SANDBOX_ONLY' });
  const { parts, done } = world([item('payment_expiry', 'p1', 0), item('delivery_retry', 'd1', 0)]);
  await clockRound(parts);
  t.deepEqual(
    done.map(({ id }) => id),
    ['p1'],
  );
});

test('ecosystem X75 payments, policies, imports and replays go by the clock of the account; what edges and chains say does not', (t) => {
  const of = (type: Parameters<typeof instantFor>[0]) => instantFor(type, { aheadMs: 5 }, START) - START;
  for (const type of ['open_payment', 'close_due_link', 'run_sweep_policy', 'open_import', 'replay_delivery'] as const)
    t.is(of(type), 5, type);
  for (const type of ['build_withdrawal', 'apply_facts', 'retry_sweep_job', 'buy_plan', 'claim_lease'] as const)
    t.is(of(type), 0, type);
});
