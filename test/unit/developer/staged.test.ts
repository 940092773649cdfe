/** Staged clusters that nobody owns any more, while others start and stop at the same time. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { removeAbandoned } from '../../../developer/embedded-postgres.ts';

test('clusters without an owner are deleted, and one that somebody else deletes at the same moment is in nobody’s way', (t) => {
  const stage = mkdtempSync(join(tmpdir(), 'flock-staged-'));
  t.teardown(() => rmSync(stage, { recursive: true, force: true }));
  const place = (digit: string) => join(stage, `cluster-${digit.repeat(16)}`);
  // Listed, and gone when it is read.
  symlinkSync(join(stage, 'nowhere'), `${place('a')}.owner`);
  for (const [digit, atSeconds] of [
    ['b', 1],
    ['c', Date.now() / 1_000],
  ] as const) {
    mkdirSync(place(digit));
    writeFileSync(`${place(digit)}.owner`, join(stage, 'deleted'));
    utimesSync(`${place(digit)}.owner`, atSeconds, atSeconds);
  }
  removeAbandoned(stage);
  t.deepEqual(
    ['b', 'c'].map((digit) => [existsSync(place(digit)), existsSync(`${place(digit)}.owner`)]),
    [
      [false, false],
      [true, true],
    ],
    'the young one may be in the making',
  );
});
