import test from 'ava';
import { continuesFrom, standingOf } from '../../../chain-watchers/follow/cursor.ts';
import { pauseAfterLooks } from '../../../chain-watchers/outbound/outbound.ts';
import { recentBlocksOf } from '../../../chain-watchers/follow/rematch.ts';
import { retryAfterMs } from '../../../chain-watchers/follow/unresolved.ts';

test('G7 only the child of the cursor continues it', (t) => {
  const cursor = { height: 100, hash: 'a' };
  t.true(continuesFrom(cursor, { height: 101, parentHash: 'a', parentHeight: 100 }));
  t.false(continuesFrom(cursor, { height: 101, parentHash: 'b', parentHeight: 100 }));
  t.false(continuesFrom(cursor, { height: 102, parentHash: 'b', parentHeight: 101 }));
  t.false(continuesFrom(cursor, { height: 100, parentHash: 'a', parentHeight: 100 }));
});

test('L19 skipped heights are proven by the parent link', (t) => {
  const cursor = { height: 100, hash: 'a' };
  t.true(continuesFrom(cursor, { height: 104, parentHash: 'a', parentHeight: 100 }));
  t.false(continuesFrom(cursor, { height: 104, parentHash: 'a', parentHeight: 103 }));
});

test('G10 a head below the cursor is lag, not a reorg', (t) => {
  const cursor = { height: 100, hash: 'a' };
  t.is(standingOf(null, { height: 5, hash: 'x' }), 'new');
  t.is(standingOf(cursor, { height: 99, hash: 'x' }), 'lagging');
  t.is(standingOf(cursor, { height: 100, hash: 'a' }), 'at_head');
  t.is(standingOf(cursor, { height: 100, hash: 'x' }), 'other_branch');
  t.is(standingOf(cursor, { height: 101, hash: 'x' }), 'behind');
});

test('C1-14 pauses grow to a limit and never end', (t) => {
  t.deepEqual([1, 2, 3, 7, 8, 1_000].map(retryAfterMs), [1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
  t.deepEqual(
    [0, 1, 2, 7, 8, 1_000].map((tries) => pauseAfterLooks(tries)),
    [2_000, 4_000, 8_000, 256_000, 300_000, 300_000],
  );
});

test('design 5: the last minute of blocks is matched again, at least two', (t) => {
  t.deepEqual(
    [
      [12_000, 60_000],
      [450, 60_000],
      [600_000, 60_000],
      [100, 600_000],
    ].map(([block, span]) => recentBlocksOf(block!, span!)),
    [6, 135, 2, 256],
  );
});
