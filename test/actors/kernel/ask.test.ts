/** Asks: deadlines, exactly one answer, dead letters. */
import test from 'ava';
import { ask, tell } from '../../../actors/kernel/index.ts';
import { Deadlines } from '../../../actors/kernel/timers.ts';
import { HandClock } from '../../support/clock.ts';
import { rounds, until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test('an ask that is not begun before its deadline is answered SERVICE_UNAVAILABLE and never executed', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.hold();
  const begun = ask(counters.address('a'), add(1), 60_000);
  await until('the append is under way', () => store.attempts === 1);
  const waiting = ask(counters.address('a'), add(10), 1_000);
  node.clock.advance(1_050);
  t.like(await waiting, { ok: false, code: 'SERVICE_UNAVAILABLE', details: { reason: 'not_begun_in_time' } });
  store.release();
  t.like(await begun, { ok: true });
  await until('its turn passed', () => node.system.counts().deadLetters.expired === 1);
  t.is(store.stream('a')!.state.total, 1, 'whoever was told no was told the truth');
});

test('an ask whose deadline passes at work is answered INTERNAL_ERROR; its late answer is counted and dropped', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.hold();
  const asked = ask(counters.address('a'), add(1), 1_000);
  await until('the append is under way', () => store.attempts === 1);
  node.clock.advance(1_050);
  t.like(await asked, { ok: false, code: 'INTERNAL_ERROR', details: { reason: 'timed_out' } });
  store.release();
  await until('the answer came too late', () => node.system.counts().deadLetters.late === 1);
  t.is(store.stream('a')!.state.total, 1, 'the outcome was unknown to the asker, and durable');
});

test('a deadline is never early, at most 50 ms late, and asks of one instant share one timer', (t) => {
  const clock = new HandClock(0);
  const deadlines = new Deadlines(clock);
  const expired: number[] = [];
  for (const timeoutMs of [1, 49, 50, 51, 100]) {
    deadlines.add(
      {
        bucket: null,
        expire: () => {
          expired.push(timeoutMs);
        },
      },
      timeoutMs,
    );
  }
  t.is(clock.pending, 2);
  clock.advance(49);
  t.deepEqual(expired, []);
  clock.advance(1);
  t.deepEqual(expired, [1, 49, 50]);
  clock.advance(50);
  t.deepEqual(expired, [1, 49, 50, 51, 100]);
  t.is(clock.pending, 0);
});

test('a bounded promise keeps its outcome in time and is rejected after it', async (t) => {
  const clock = new HandClock(0);
  const deadlines = new Deadlines(clock);
  const late = (): Error => new Error('late');
  t.is(await deadlines.bound(Promise.resolve(7), 100, late), 7);
  await t.throwsAsync(deadlines.bound(Promise.reject(new Error('own')), 100, late), { message: 'own' });
  const never = deadlines.bound(new Promise(() => {}), 100, late);
  clock.advance(200);
  await t.throwsAsync(never, { message: 'late' });
});

test('a tell waits for nobody, is handled in order, and says when it was turned away', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { mailboxMax: 2 });
  t.deepEqual(
    [1, 2, 3].map((by) => tell(counters.address('a'), add(by))),
    [true, true, false],
  );
  await until('both are durable', () => store.stream('a')?.version === 2);
  t.is(store.stream('a')!.state.total, 3);
  t.is(node.system.counts().deadLetters.full, 1);
});

test('waiting messages and those at work are counted until they are answered', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.hold();
  const asks = [ask(counters.address('a'), add(1))];
  t.is(node.system.counts().waiting, 1);
  await until('the append is under way', () => store.attempts === 1);
  asks.push(ask(counters.address('a'), add(1)), ask(counters.address('b'), { type: 'read' }));
  t.is(node.system.counts().waiting, 2);
  await rounds(20);
  t.is(node.system.counts().waiting, 1);
  store.release();
  await Promise.all(asks);
  t.is(node.system.counts().waiting, 0);
  t.is(node.system.inspect(counters.address('a').path)!.messagesHandled, 2);
});

test('fault 30: a hundred thousand messages to one actor: what it has no room for is turned away at once, and its neighbour is answered as soon as before', async (t) => {
  const MAILBOX_MAX = 100,
    WAVES = 100,
    WAVE = 1_000;
  const node = startNode(t);
  const { counters } = startCounters(node, { mailboxMax: MAILBOX_MAX, batchMax: 20 });
  /** Turns of the event loop until the neighbour is answered. */
  const turns = async (): Promise<number> => {
    let answered = false;
    const asked = ask(counters.address('b'), add(1)).then((outcome) => {
      answered = true;
      t.true(outcome.ok);
    });
    let count = 0;
    for (; !answered; count += 1) await rounds(1);
    await asked;
    return count;
  };
  await turns(); // it is loaded
  const quiet = Math.max(...[await turns(), await turns(), await turns()]);
  const flood: Promise<{ ok: unknown }>[] = [];
  let waitingMost = 0;
  for (let wave = 0; wave < WAVES; wave += 1) {
    for (let n = 0; n < WAVE; n += 1) flood.push(ask(counters.address('a'), add(1)));
    waitingMost = Math.max(waitingMost, node.system.counts().waiting);
    const busy = await turns();
    t.true(busy <= 2 * quiet, `wave ${wave}: ${busy} turns, ${quiet} without the flood`);
  }
  const outcomes = await Promise.all(flood),
    done = outcomes.filter(({ ok }) => ok === true).length;
  t.true(waitingMost <= MAILBOX_MAX + 1, `${waitingMost} wait at once`);
  t.true(done >= MAILBOX_MAX && done < WAVES * WAVE);
  t.is(node.system.counts().deadLetters.full, WAVES * WAVE - done, 'each of the others was turned away, and counted');
});
