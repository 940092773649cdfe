import test from 'ava';
import { CHAINS } from '../../../protocol/slugs.ts';
import fc from 'fast-check';
import {
  markIfPossible,
  openSpendClock,
  SPEND_MARK_MS,
  readBootTime,
  type BootTime,
} from '../../../edge/spend/clock.ts';
import { tokenOf, type SpendCaps } from '../../../edge/spend/caps.ts';
import { newestSpendMs, SpendLedger } from '../../../edge/spend/ledger.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { type Storage } from '../../../edge/storage/storage.ts';
import { newStorage } from '../../support/edge/disk.ts';

const WINDOW_MS = 60_000;
const START_MS = 1_700_000_000_000;

interface Clocks {
  wallMs: number;
  monotonicMs: number;
}

function capsOf(more: Partial<SpendCaps> = {}): SpendCaps {
  return { spendCaps: new Map(), withdrawalCaps: new Map(), spendWindowMs: WINDOW_MS, ...more };
}

/** A ledger as one start of a process has it. */
function boot(storage: Storage, caps: SpendCaps, clocks: Clocks): SpendLedger {
  return new SpendLedger(
    storage,
    caps,
    openSpendClock(storage, newestSpendMs(storage), {
      wallMs: () => clocks.wallMs,
      monotonicMs: () => clocks.monotonicMs,
    }),
  );
}

test('§8.5 the cap of what the cloud can start is zero by default, withdrawals are unbounded by default', (t) => {
  const ledger = boot(newStorage(), capsOf(), { wallMs: START_MS, monotonicMs: 0 });
  const refusal = ledger.count({ subject: 'sweep', chain: 'eth', purpose: 'cloud', amount: 1n });
  t.is(refusal?.code, 'AMOUNT_CAP_EXCEEDED');
  t.is(refusal?.details['setting'], 'EDGE_SPEND_CAP_ETH');
  t.is(ledger.count({ subject: 'txn', chain: 'eth', purpose: 'withdrawal', amount: 10n ** 30n }), null);
});

test('decisions 3: what is refused is not counted, what is counted stays counted after a restart', (t) => {
  const storage = newStorage();
  const clocks = { wallMs: START_MS, monotonicMs: 0 };
  const caps = capsOf({ spendCaps: new Map([['eth', 10n]]) });
  const first = boot(storage, caps, clocks);
  t.is(first.count({ subject: 'a', chain: 'eth', purpose: 'cloud', amount: 6n }), null);
  t.is(first.count({ subject: 'b', chain: 'eth', purpose: 'cloud', amount: 5n })?.code, 'AMOUNT_CAP_EXCEEDED');
  t.is(first.count({ subject: 'c', chain: 'eth', purpose: 'cloud', amount: 4n }), null);
  const second = boot(storage, caps, clocks);
  t.is(second.count({ subject: 'd', chain: 'eth', purpose: 'cloud', amount: 1n })?.code, 'AMOUNT_CAP_EXCEEDED');
  t.is(second.spent('eth', 'cloud'), 10n);
});

test('versions of one transaction exclude each other: counted once, at the dearest', (t) => {
  const ledger = boot(newStorage(), capsOf({ withdrawalCaps: new Map([['eth', 100n]]) }), {
    wallMs: START_MS,
    monotonicMs: 0,
  });
  const count = (amount: bigint) => ledger.count({ subject: 'txn_1', chain: 'eth', purpose: 'withdrawal', amount });
  t.is(count(60n), null);
  t.is(count(50n), null);
  t.is(ledger.spent('eth', 'withdrawal'), 60n);
  t.is(count(90n), null);
  t.is(ledger.spent('eth', 'withdrawal'), 90n);
  t.is(count(101n)?.code, 'AMOUNT_CAP_EXCEEDED');
  t.is(ledger.spent('eth', 'withdrawal'), 90n);
});

test('found F7: an id that the cloud gives to another instruction is refused, and what was counted under it stays', (t) => {
  const ledger = boot(newStorage(), capsOf(), { wallMs: START_MS, monotonicMs: 0 });
  const count = (subject: string) =>
    ledger.count({ subject, transactionId: 'txn_1', chain: 'eth', purpose: 'withdrawal', amount: 6n })?.details;
  t.is(count('one'), undefined);
  t.like(count('another'), { reason: 'another_instruction_under_this_id' });
  t.is(ledger.spent('eth', 'withdrawal'), 6n);
  t.is(count('one'), undefined);
});

test('found F3: a counter whose transaction is called failed is filled by signing that one again: higher ones go on', (t) => {
  const ledger = boot(newStorage(), capsOf(), { wallMs: START_MS, monotonicMs: 0 });
  const count = (subject: string, counter: bigint) =>
    ledger.count({
      subject,
      chain: 'eth',
      purpose: 'withdrawal',
      amount: 1n,
      sender: '0xA',
      payment: subject,
      counter,
      exclusive: [`eth|0xA|nonce:${counter}`],
    })?.details['reason'] ?? null;
  t.is(count('one', 3n), null);
  ledger.note(['one'], 'failed');
  t.is(count('two', 4n), 'counter_not_filled');
  t.is(count('one', 3n), null);
  t.is(ledger.reportedOf('one'), 'doubted');
  t.is(count('two', 4n), null);
});

test('§8.5 what was counted in an earlier window and is signed only now, after a crash in between, counts now', (t) => {
  const clocks = { wallMs: START_MS, monotonicMs: 0 };
  const ledger = boot(newStorage(), capsOf({ spendCaps: new Map([['eth', 10n]]) }), clocks);
  const count = (subject: string, amount: bigint) =>
    ledger.count({ subject, chain: 'eth', purpose: 'cloud', amount })?.code ?? null;
  t.is(count('late', 6n), null);
  clocks.monotonicMs += WINDOW_MS;
  t.is(count('next', 5n), null);
  t.is(count('late', 6n), 'AMOUNT_CAP_EXCEEDED');
  clocks.monotonicMs += WINDOW_MS;
  t.is(count('late', 5n), null, 'at the dearest');
  t.is(count('other', 5n), 'AMOUNT_CAP_EXCEEDED');
  t.is(count('other', 4n), null);
});

test('caps of chains and purposes are apart; the window rolls', (t) => {
  const clocks = { wallMs: START_MS, monotonicMs: 0 };
  const ledger = boot(
    newStorage(),
    capsOf({
      spendCaps: new Map([
        ['eth', 5n],
        ['bsc', 5n],
      ]),
      withdrawalCaps: new Map([['eth', 5n]]),
    }),
    clocks,
  );
  for (const [subject, chain, purpose] of [
    ['1', 'eth', 'cloud'],
    ['2', 'bsc', 'cloud'],
    ['3', 'eth', 'withdrawal'],
  ] as const) {
    t.is(ledger.count({ subject, chain, purpose, amount: 5n }), null, subject);
    t.is(ledger.count({ subject: `${subject}+`, chain, purpose, amount: 1n })?.code, 'AMOUNT_CAP_EXCEEDED', subject);
  }
  clocks.monotonicMs += WINDOW_MS - 1;
  t.is(ledger.count({ subject: '4', chain: 'eth', purpose: 'cloud', amount: 1n })?.code, 'AMOUNT_CAP_EXCEEDED');
  clocks.monotonicMs += 1;
  t.is(ledger.count({ subject: '5', chain: 'eth', purpose: 'cloud', amount: 5n }), null);
});

test('of processes that share the file the one whose clock is behind counts by the newest entry, not in a window of its own', (t) => {
  const storage = newStorage(),
    caps = capsOf({ spendCaps: new Map([['eth', 5n]]) });
  let aheadMs = START_MS + WINDOW_MS;
  const [ahead, behind] = [() => aheadMs, () => START_MS].map(
    (nowMs) => new SpendLedger(storage, caps, { nowMs, mark: () => undefined }),
  ) as [SpendLedger, SpendLedger];
  t.is(ahead.count({ subject: 'a', chain: 'eth', purpose: 'cloud', amount: 1n }), null);
  t.is(behind.count({ subject: 'b', chain: 'eth', purpose: 'cloud', amount: 4n }), null);
  aheadMs += 1;
  t.is(ahead.count({ subject: 'c', chain: 'eth', purpose: 'cloud', amount: 1n })?.code, 'AMOUNT_CAP_EXCEEDED');
});

test('a wall clock that is set back or forth while the edge runs frees nothing', (t) => {
  const clocks = { wallMs: START_MS, monotonicMs: 0 };
  const ledger = boot(newStorage(), capsOf({ spendCaps: new Map([['eth', 5n]]) }), clocks);
  t.is(ledger.count({ subject: 'a', chain: 'eth', purpose: 'cloud', amount: 5n }), null);
  for (const jumpMs of [-10 * WINDOW_MS, 1_000 * WINDOW_MS]) {
    clocks.wallMs = START_MS + jumpMs;
    t.is(
      ledger.count({ subject: `b${jumpMs}`, chain: 'eth', purpose: 'cloud', amount: 1n })?.code,
      'AMOUNT_CAP_EXCEEDED',
    );
  }
});

type Step =
  | { kind: 'count'; amount: number }
  | { kind: 'pass'; ms: number }
  | { kind: 'wall'; ms: number }
  | { kind: 'mark' }
  | { kind: 'restart'; pauseMs: number; boots: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('count' as const), amount: fc.integer({ min: 0, max: 60 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: WINDOW_MS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wall' as const),
      ms: fc.integer({ min: -5 * WINDOW_MS, max: 5 * WINDOW_MS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      pauseMs: fc.integer({ min: 0, max: WINDOW_MS }),
      boots: fc.boolean(),
    }),
  },
);

test('property: in no window of real time more than the cap is counted, whatever the wall clock does, over restarts', (t) => {
  const cap = 100n;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const storage = newStorage();
      const caps = capsOf({ spendCaps: new Map([['base', cap]]) });
      const clocks: Clocks = { wallMs: START_MS, monotonicMs: 0 };
      let [bootId, bootedAtMs, realMs] = [0, 0, 0];
      const start = () => {
        const bootTime = () => ({ bootId: `boot-${bootId}`, upMs: realMs - bootedAtMs });
        const clock = openSpendClock(storage, newestSpendMs(storage), {
          wallMs: () => clocks.wallMs,
          monotonicMs: () => clocks.monotonicMs,
          bootTime,
        });
        return { clock, ledger: new SpendLedger(storage, caps, clock) };
      };
      let { clock, ledger } = start();
      const counted: { atMs: number; amount: bigint }[] = [];
      steps.forEach((each, index) => {
        if (each.kind === 'pass') {
          realMs += each.ms;
          clocks.monotonicMs += each.ms;
          clocks.wallMs += each.ms;
        } else if (each.kind === 'wall') clocks.wallMs += each.ms;
        else if (each.kind === 'mark') clock.mark();
        else if (each.kind === 'restart') {
          realMs += each.pauseMs;
          if (each.boots) [bootId, bootedAtMs] = [bootId + 1, realMs];
          clocks.monotonicMs = 0;
          ({ clock, ledger } = start());
        } else {
          const amount = BigInt(each.amount);
          const refusal = ledger.count({ subject: `s${index}`, chain: 'base', purpose: 'cloud', amount });
          if (refusal === null) counted.push({ atMs: realMs, amount });
        }
      });
      storage.close();
      for (const { atMs } of counted) {
        const within = counted.filter((other) => other.atMs > atMs - WINDOW_MS && other.atMs <= atMs);
        if (within.reduce((sum, { amount }) => sum + amount, 0n) > cap) return false;
      }
      return true;
    }),
    { numRuns: 200 },
  );
  t.pass();
});

test('issue 4, 7: a wall clock is believed once; between two processes the time goes on by how long the machine was up', (t) => {
  const storage = newStorage();
  const at = (wallMs: number, boot: BootTime | null) =>
    openSpendClock(storage, 0, { wallMs: () => wallMs, monotonicMs: () => 0, bootTime: () => boot }).nowMs() - START_MS;
  t.is(at(START_MS, { bootId: 'a', upMs: 1_000 }), 0);
  t.is(at(START_MS + 50 * WINDOW_MS, { bootId: 'a', upMs: 4_000 }), 3_000, 'by the time that the machine was up');
  t.is(at(START_MS - 50 * WINDOW_MS, { bootId: 'a', upMs: 5_000 }), 4_000, 'a clock set back stops nothing either');
  t.is(
    at(START_MS + 50 * WINDOW_MS, { bootId: 'b', upMs: 10 }),
    4_000,
    'the time that a machine was off does not count',
  );
  t.is(at(START_MS + 50 * WINDOW_MS, { bootId: 'b', upMs: 30 }), 4_020);
  t.is(at(START_MS + 50 * WINDOW_MS, { bootId: 'b', upMs: 20 }), 4_020, 'an uptime that went back');
  t.is(at(START_MS + 50 * WINDOW_MS, null), 4_020, 'nor any time where the boot is not known');
  const first = readBootTime()!,
    second = readBootTime()!;
  t.is(first.bootId, second.bootId);
  t.true(first.upMs > 0 && first.upMs <= second.upMs);
});

test('a mark keeps the time over a boot; one of a process that is behind changes nothing', (t) => {
  const storage = newStorage();
  const monotonic = { ms: 0 };
  const open = (bootId: string, monotonicMs = () => monotonic.ms) =>
    openSpendClock(storage, 0, {
      wallMs: () => START_MS,
      monotonicMs,
      bootTime: () => ({ bootId, upMs: monotonic.ms }),
    });
  const clock = open('a'),
    behind = open('a', () => 0);
  monotonic.ms += SPEND_MARK_MS;
  clock.mark();
  behind.mark();
  monotonic.ms += 7;
  t.is(open('b').nowMs() - START_MS, SPEND_MARK_MS, 'what came after the mark is lost');
});

test('a mark that finds no room is left out, another fault is not hidden', (t) => {
  const failing = (error: Error) => ({
    mark: () => {
      throw error;
    },
  });
  t.notThrows(() => markIfPossible(failing(new StorageFailed('disk_full'))));
  t.throws(() => markIfPossible(failing(new TypeError('a bug'))), { instanceOf: TypeError });
});

test('R28 a token cap counts the most that may leave: what arrives and the share that an issuer on xrp may keep', (t) => {
  const unsigned = {
    chain: 'xrp' as const,
    tokenContract: 'USD:r',
    kind: 'payment',
    amount: 10n * 10n ** 15n,
  } as const;
  t.is(tokenOf('withdrawal', { ...unsigned, fee: { sendMax: '19.5' } })!.amount, 19_500_000_000_000_000n);
  t.is(tokenOf('withdrawal', { ...unsigned, fee: {} })!.amount, 10n * 10n ** 15n);
  t.is(tokenOf('withdrawal', { ...unsigned, fee: { sendMax: '1' } })!.amount, 10n * 10n ** 15n);
  t.is(tokenOf('cloud', { ...unsigned, fee: { sendMax: '19.5' } }), null);
});

test('found F6: a part of the fee that the chain does not have uses no token cap up', (t) => {
  const unsigned = {
    tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    kind: 'payment',
    amount: 5n,
  } as const;
  for (const chain of CHAINS.filter((slug) => slug !== 'xrp'))
    t.is(tokenOf('withdrawal', { ...unsigned, chain, fee: { sendMax: '1000000000' } })!.amount, 5n, chain);
});
