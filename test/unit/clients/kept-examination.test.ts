/** What a process that runs keeps of its doctor, and the metric made of it. Ecosystem X36. */
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { examine, fail, ok, unknown, warn, type Finding } from '../../../protocol/node/doctor/examine.ts';
import { checkValues, keepExamination } from '../../../protocol/node/doctor/kept.ts';

const examined = (...findings: Finding[]) =>
  examine(findings.map((finding, at) => ({ id: `check_${at}`, page: 'docs/doctor.md', look: () => finding })));

test('ecosystem X36 one look serves all who ask within five minutes, and nobody waits for it', async (t) => {
  const looks: (() => void)[] = [];
  let nowMs = 0;
  const view = keepExamination(
    () => new Promise((resolve) => looks.push(() => resolve(examined(ok('well'))))),
    () => nowMs,
  );
  t.is(view(), null);
  nowMs = 1_000_000;
  t.is(view(), null);
  t.is(looks.length, 1, 'a look that has not ended is not asked for again');
  looks[0]!();
  while (view() === null) await setImmediate();
  t.is(looks.length, 2, 'it began long ago');
  looks[1]!();
  while (view()!.ageMs > 0) await setImmediate();
  nowMs += 299_999;
  t.is(view()!.ageMs, 299_999);
  t.is(looks.length, 2);
});

test('ecosystem X36 a look that throws leaves the last one, whose verdicts end when they are old', async (t) => {
  let nowMs = 0,
    isBroken = false;
  const view = keepExamination(
    () =>
      isBroken
        ? Promise.reject(new Error('no descriptor is left'))
        : examined(unknown('a', 'b'), ok('a'), warn('a', 'b'), fail('a', 'b')),
    () => nowMs,
  );
  t.deepEqual(checkValues(view()), []);
  while (view() === null) await setImmediate();
  const seen = [
    ['check_0', 0],
    ['check_1', 1],
    ['check_2', 2],
    ['check_3', 3],
  ];
  t.deepEqual(checkValues(view()), seen);
  isBroken = true;
  nowMs = 400_000;
  t.deepEqual(checkValues(view()), seen);
  nowMs = 700_000;
  t.deepEqual(
    checkValues(view()).map(([, value]) => value),
    [0, 0, 0, 0],
    'not ok: not known',
  );
});
