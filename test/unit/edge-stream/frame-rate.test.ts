import test from 'ava';
import {
  FORGIVEN_PER_SECOND,
  FrameRate,
  FRAMES_AT_ONCE,
  FRAMES_PER_SECOND,
  REFUSED_FRAMES_MAX,
  type FrameVerdict,
} from '../../../gateway/edge-stream/frame-rate.ts';

/** The verdicts of evenly spaced frames. */
function verdictsOf(perSecond: number, seconds: number): FrameVerdict[] {
  const rate = new FrameRate(0);
  return Array.from({ length: perSecond * seconds }, (_, index) => rate.take((index * 1_000) / perSecond));
}

test('frames that come all at once are taken, then refused, then the stream is closed', (t) => {
  const rate = new FrameRate(0);
  const verdicts = Array.from({ length: FRAMES_AT_ONCE + REFUSED_FRAMES_MAX + 1 }, () => rate.take(0));
  t.true(verdicts.slice(0, FRAMES_AT_ONCE).every((verdict) => verdict === 'taken'));
  t.true(verdicts.slice(FRAMES_AT_ONCE, -1).every((verdict) => verdict === 'refused'));
  t.is(verdicts.at(-1), 'flood');
});

test('a stream at the limit is never refused; one that goes on at twice the limit is closed while time passes', (t) => {
  t.true(verdictsOf(FRAMES_PER_SECOND, 20).every((verdict) => verdict === 'taken'));
  const fast = verdictsOf(2 * FRAMES_PER_SECOND, 5);
  t.true(fast.includes('refused'));
  t.true(fast.includes('flood'));
});

test('a stream that is a little too fast is held to the limit and not closed', (t) => {
  const verdicts = verdictsOf(FRAMES_PER_SECOND + FORGIVEN_PER_SECOND, 120);
  t.false(verdicts.includes('flood'));
  const taken = verdicts.filter((verdict) => verdict === 'taken').length;
  t.true(taken <= FRAMES_AT_ONCE + 120 * FRAMES_PER_SECOND);
  t.true(taken >= 119 * FRAMES_PER_SECOND);
});
