import test from 'ava';
import { confirmationsOf, gatePassed, thresholdOf } from '../../../chain-watchers/maturity/confirmations.ts';
import { ownFinality, observeHead, pollMsOf, silentAfterMs } from '../../../chain-watchers/follow/head.ts';

const at = (ms: number) => ({ nowMs: ms, elapsedMs: ms });

test('G18 confirmations = head − height + 1, and 0 above the head', (t) => {
  for (const [head, height, confirmations] of [
    [100, 100, 1],
    [100, 99, 2],
    [100, 89, 12],
    [100, 101, 0],
    [0, 0, 1],
    [5, 0, 6],
  ] as const) {
    t.is(confirmationsOf(head, height), confirmations, `head ${head}, height ${height}`);
  }
});

test("B3 a coinbase waits for its own 101 confirmations, others for the network's", (t) => {
  t.is(thresholdOf({ threshold: 3 }, undefined), 3);
  t.is(thresholdOf({ threshold: 3 }, 101), 101);
  t.is(thresholdOf({ threshold: 128 }, 101), 128);
});

test('chains.md 2: a gate of depth passes, a gate of finality passes up to `finalized` only', (t) => {
  const depth = { gate: { kind: 'depth' } } as const;
  const final = { gate: { kind: 'finalized', stallDepth: null } } as const;
  t.true(gatePassed(depth, 5, 5, { finalizedHeight: null, stalledMs: 0 }));
  t.true(gatePassed(final, 1_000, 1_300, { finalizedHeight: 1_000, stalledMs: 0 }));
  t.false(gatePassed(final, 1_001, 1_300, { finalizedHeight: 1_000, stalledMs: 0 }));
  t.false(
    gatePassed(final, 1, 1_300, { finalizedHeight: null, stalledMs: 1e9 }),
    'a chain that never said what is final confirms nothing',
  );
});

test('chains.md 2 (bsc): `finalized` that stalls for over 60 s is replaced by 240 blocks', (t) => {
  const bsc = { gate: { kind: 'finalized', stallDepth: 240 } } as const;
  const cases = [
    [1_061, 1_300, 60_000, false], // 240 deep, but 60 s is not over 60 s
    [1_061, 1_300, 60_001, true],
    [1_062, 1_300, 60_001, false], // 239 deep
    [1_000, 1_300, 0, true],
  ] as const;
  for (const [height, head, stalledMs, passes] of cases) {
    t.is(
      gatePassed(bsc, height, head, { finalizedHeight: 1_000, stalledMs }),
      passes,
      `height ${height}, stalled ${stalledMs} ms`,
    );
  }
  t.true(gatePassed(bsc, 1_061, 1_300, { finalizedHeight: null, stalledMs: 60_001 }), 'never told is stalled too');
});

test('V28 finalized and the highest height only rise, whatever a lagging endpoint says', (t) => {
  const head = (height: number, finalizedHeight: number | null) => ({ height, hash: `h${height}`, finalizedHeight });
  let memory = observeHead(null, head(10, null), at(0));
  t.deepEqual(ownFinality(memory, 5), { finalizedHeight: null, stalledMs: 5 });
  memory = observeHead(memory, head(12, 8), at(10));
  memory = observeHead(memory, head(11, 6), at(20));
  t.is(memory.finalizedHeight, 8);
  t.is(memory.highestHeight, 12);
  t.is(memory.head.height, 11, 'G18: confirmations count from the head of the endpoint that answers');
  t.is(memory.roseAtMs, 10);
  t.deepEqual(ownFinality(memory, 70), { finalizedHeight: 8, stalledMs: 60 });
  memory = observeHead(memory, head(13, 9), at(80));
  t.deepEqual(ownFinality(memory, 80), { finalizedHeight: 9, stalledMs: 0 });
});

test('V28 a head below what was called final refutes it: a node of another network, asked once, leaves no gate open', (t) => {
  const head = (height: number, finalizedHeight: number | null) => ({ height, hash: `h${height}`, finalizedHeight });
  const foreign = observeHead(observeHead(null, head(100, 90), at(0)), head(78_000_000, 77_999_990), at(10));
  const again = observeHead(foreign, head(101, 91), at(20));
  t.deepEqual(ownFinality(again, 20), { finalizedHeight: 91, stalledMs: 0 });
  t.false(gatePassed({ gate: { kind: 'finalized', stallDepth: null } }, 95, 120, ownFinality(again, 20)));
});

test('G11 a chain is silent after clamp(30 × block time, 30 s, 5 min)', (t) => {
  for (const [blockTimeMs, silentMs] of [
    [450, 30_000],
    [1_000, 30_000],
    [2_000, 60_000],
    [10_000, 300_000],
    [12_000, 300_000],
    [600_000, 300_000],
  ] as const) {
    t.is(silentAfterMs({ blockTimeMs }), silentMs);
  }
  t.deepEqual(
    [450, 2_000, 12_000, 600_000].map((blockTimeMs) => pollMsOf({ blockTimeMs })),
    [250, 500, 3_000, 10_000],
  );
});
