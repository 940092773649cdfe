/**
 * Work that is under way is not asked for again: the places of docs/event-path-tests.md that have no test of their own.
 */
import test from 'ava';
import { InstructionShare } from '../../edge/signing/instruction-share.ts';
import { createRequestLimits } from '../../gateway/http/rate-limit.ts';
import type { Acknowledgement } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { PairLookup } from '../../gateway/http/address/pair-lookup.ts';
import { PoolStock } from '../../gateway/http/address/pool-stock.ts';
import { refuse } from '../../protocol/errors.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import { TestAccount } from '../support/account.ts';
import { settle } from '../support/edge-rooms.ts';

const LIVE = 'org_2ajca5ku23xdz5lxpajfrimisg_live' as AccountId,
  OTHER = 'org_2ajca5ku23xdz5lxpajfrimish_live' as AccountId;

test('found pool storm: instructions are shared by one round at a time, and one more for whatever came meanwhile', async (t) => {
  let rounds = 0,
    release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const share = new InstructionShare({
    instructions: {
      unshared: () => {
        rounds += 1;
        return [];
      },
    },
    nowMs: () => 0,
    ttlMs: 1,
    log: { fault: (_event: string, error: unknown) => t.fail(String(error)) },
  } as never);
  const tell = async (): Promise<Acknowledgement> => {
    await gate;
    return { ok: true };
  };
  await share.send(tell);
  t.is(rounds, 1);
  const waiting = Array.from({ length: 50 }, () => share.send(tell));
  release();
  await Promise.all(waiting);
  t.is(rounds, 2, 'fifty callers share one round');
});

test('found pool storm: a plan that is being read is not read again; the next one after it ran out is', async (t) => {
  let asked = 0,
    nowMs = 0;
  const { state } = new TestAccount();
  const accounts = {
    ask: async () => {
      asked += 1;
      await settle();
      return { ok: true, reply: state };
    },
  } as unknown as Pick<Accounts, 'ask'>;
  const limits = createRequestLimits(accounts, undefined, () => nowMs);
  const answers = await Promise.all(Array.from({ length: 40 }, () => limits.of(LIVE)));
  t.is(new Set(answers).size, 1);
  t.is(asked, 1);
  nowMs = 60_000;
  await Promise.all([limits.of(LIVE), limits.of(LIVE)]);
  t.is(asked, 2);
});

test('found pool storm: many requests share a read of the pool', async (t) => {
  let reads = 0;
  const stock = new PoolStock({
    reads: {
      unissuedPool: async () => {
        reads += 1;
        await settle();
        return [{ index: 0, address: 'a', path: 'p' }];
      },
    },
    edges: { anyLive: async () => false, replenish: async () => undefined },
    waitMs: 1_000,
  });
  await Promise.all(Array.from({ length: 30 }, () => stock.issue(LIVE, 'sol', async () => ({ ok: true }))));
  t.is(reads, 1);
  t.like(await stock.issue(LIVE, 'sol', async () => refuse('SERVICE_UNAVAILABLE', { reason: 'pool_refill' })), {
    code: 'EDGE_OFFLINE',
  });
});

test('found F80: the look for EVM pairs is one statement for the requests of all accounts; one pair goes one after the other', async (t) => {
  const batches: number[] = [];
  const pairs = new PairLookup({
    unpairedIndexes: async (asked) => {
      batches.push(asked.length);
      await settle();
      return asked.map(() => null);
    },
  });
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      pairs.indexFor(n % 2 === 0 ? LIVE : OTHER, { chain: 'eth', userRef: `u${n}`, tag: null }),
    ),
  );
  t.deepEqual(batches, [30], 'what is asked in one turn is one read, whatever accounts it is of');
  const ask = (n: number) => pairs.indexFor(LIVE, { chain: 'eth', userRef: `v${n}`, tag: null });
  const first = ask(0);
  await settle();
  await Promise.all([first, ...Array.from({ length: 600 }, (_, n) => ask(n))]);
  t.deepEqual(
    [batches.slice(2).reduce((sum, many) => sum + many, 0), batches.every((many) => many <= 256)],
    [600, true],
  );
  let atOnce = 0,
    most = 0;
  await Promise.all(
    Array.from({ length: 5 }, () =>
      pairs.inTurn(LIVE, { chain: 'eth', userRef: 'u', tag: null }, async () => {
        most = Math.max(most, (atOnce += 1));
        await settle();
        atOnce -= 1;
      }),
    ),
  );
  t.is(most, 1);
});
