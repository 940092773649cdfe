import test from 'ava';
import fc from 'fast-check';
import {
  commonIndex,
  forkIndex,
  judge,
  SKIPPED,
  walkOf,
  type Suspicion,
  type Witness,
} from '../../../chain-watchers/reorg/reorg.ts';

const suspicion: Suspicion = { cursor: { height: 100, hash: 'ours' }, theirs: 'theirs', sinceMs: 0 };
const patience = { secondReadMs: 12_000, contestedMs: 300_000 };
const says = (hash: string | null, headHeight = 103): Witness => ({ headHeight, hash });
const verdict = (witnesses: Witness[], nowMs = 0) => judge(suspicion, witnesses, nowMs, patience);

test('G10 two endpoints at or above our height that agree prove a reorg at once', (t) => {
  t.is(verdict([says('theirs'), says('theirs')]), 'reorg');
  t.is(verdict([says('theirs', 100), says('theirs', 100)]), 'reorg');
});

test('G10 endpoints below our height have no say', (t) => {
  t.is(verdict([says('theirs', 99), says('theirs', 99)], 1e9), 'unproven');
  t.is(verdict([says('theirs'), says('theirs', 99)]), 'unproven');
  t.is(verdict([says('ours'), says('theirs', 99)]), 'ours');
  t.is(verdict([says(null), says(null)]), 'unproven');
  t.is(verdict([]), 'unproven');
});

test('G10 one endpoint proves it by saying the same again after one block time', (t) => {
  t.is(verdict([says('theirs')], 11_999), 'unproven');
  t.is(verdict([says('theirs')], 12_000), 'reorg');
  t.is(verdict([says('another')], 12_000), 'unproven', 'it says something else now');
  t.is(verdict([says('theirs'), says(null, 50)], 12_000), 'reorg', 'the other one lags');
});

test('G10 endpoints that contradict each other prove nothing, until the higher head has held for long', (t) => {
  t.is(verdict([says('theirs'), says('ours')], 299_999), 'unproven');
  t.is(verdict([says('theirs', 103), says('ours', 100)], 300_000), 'reorg', 'the other one froze on a replaced block');
  t.is(verdict([says('theirs', 103), says('ours', 103)], 300_000), 'unproven');
  t.is(verdict([says('theirs'), says('another'), says('ours')]), 'unproven');
  t.is(verdict([says('theirs'), says('theirs'), says('ours')]), 'reorg');
  t.is(verdict([says('theirs'), says('theirs'), says('ours'), says('ours')]), 'unproven');
});

test('G10 a height that the other branch skipped is an answer too (L19)', (t) => {
  const skipped: Suspicion = { ...suspicion, theirs: SKIPPED };
  t.is(judge(skipped, [says(SKIPPED), says(SKIPPED)], 0, patience), 'reorg');
});

const linksOf = (count: number, newest = 100) =>
  Array.from({ length: count }, (_, index) => ({
    height: newest - index,
    hash: `h${newest - index}`,
    parentHash: '',
    parentHeight: 0,
    timeMs: null,
  }));

test('G15 the walk-back finds the newest common block, with few reads', async (t) => {
  const reads: number[] = [];
  const agrees = async ({ height }: { height: number }) => {
    reads.push(height);
    return height <= 97;
  };
  t.is(await forkIndex(linksOf(10), agrees), 3);
  t.deepEqual(reads, [100, 99, 97, 98]);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 700 }), async (count, depth) => {
      let calls = 0;
      const index = await forkIndex(linksOf(count), async ({ height }) => {
        calls += 1;
        return height <= 100 - depth;
      });
      t.is(index, depth < count ? depth : null);
      t.true(calls <= 2 * Math.ceil(Math.log2(count + 2)) + 2, `${calls} reads for ${count} links`);
    }),
  );
});

test('G17 no common block within the window stops; a ledger younger than the window begins again at its start', (t) => {
  t.deepEqual(walkOf(linksOf(32), 5, 32), { kind: 'fork', forkPoint: { height: 95, hash: 'h95' }, depth: 5 });
  t.deepEqual(walkOf(linksOf(32), 31, 32), { kind: 'fork', forkPoint: { height: 69, hash: 'h69' }, depth: 31 });
  t.deepEqual(walkOf(linksOf(32), null, 32), { kind: 'too_deep', depth: 32 });
  t.like(walkOf(linksOf(7), null, 32), { kind: 'below_start', start: { height: 94 }, depth: 7 });
  t.deepEqual(walkOf([], null, 32), { kind: 'too_deep', depth: 0 });
});

test('reliability 4.1-13 the fork point is what more than half hold: one liar of three changes nothing, one of two at most deepens it within the window', (t) => {
  t.is(commonIndex([]), null);
  t.is(commonIndex([null, null]), null);
  t.is(commonIndex([3, null]), 3, 'one that shares nothing has no say beside one that shares some');
  t.is(commonIndex([null, null, 3]), 3);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.nat(600), fc.option(fc.nat(600)), (honest, fork, lie) => {
      const index = commonIndex([...Array.from({ length: honest }, () => fork), lie]);
      t.is(index, honest === 1 && lie !== null ? Math.max(fork, lie) : fork);
    }),
  );
});
