/** chains/transport/board.ts under any story: what its table says holds at each step. */
import test from 'ava';
import fc from 'fast-check';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { EndpointBoard } from '../../../chains/transport/board.ts';

const OUTCOMES = ['ok', 'failed', 'lagging', 'wrong_network'] as const;
const ASKED = ['healthy', 'lagging'];
const LONGEST_PAUSE_MS = 60_000 * 1.5;

const step = fc.record({
  at: fc.nat(3),
  outcome: fc.constantFrom(...OUTCOMES),
  headHeight: fc.option(fc.nat(200), { nil: undefined }),
  askedMs: fc.option(fc.nat(120_000), { nil: null }),
  chance: fc.nat(999).map((thousandth) => thousandth / 1_000),
  passes: fc.oneof(fc.nat(1_000), fc.nat(120_000)),
});
const story = fc.record({ count: fc.integer({ min: 1, max: 4 }), steps: fc.array(step, { maxLength: 60 }) });

/** The endpoint that would be asked, null for none. */
function picked(board: EndpointBoard<string>, nowMs: number, not: readonly string[] = []): string | null {
  try {
    return board.pick(not, nowMs);
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** Tells the story and calls back after each step. */
function play(
  { count, steps }: { count: number; steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[] },
  look: (
    board: EndpointBoard<string>,
    seen: { names: readonly string[]; nowMs: number; name: string; failures: number } & (typeof steps)[number],
  ) => void,
): void {
  const names = ['a', 'b', 'c', 'd'].slice(0, count),
    board = new EndpointBoard(names, { chain: 'eth', blockTimeMs: 12_000 });
  const failures = new Map<string, number>();
  let nowMs = 1_000;
  for (const one of steps) {
    nowMs += one.passes;
    const name = names[one.at % count]!;
    failures.set(name, one.outcome === 'failed' ? (failures.get(name) ?? 0) + 1 : 0);
    board.note(name, one.outcome, { ...one, nowMs, random: () => one.chance });
    look(board, { ...one, names, nowMs, name, failures: failures.get(name)! });
  }
}

test('found F73: who is asked is healthy or lagging, the healthy first, and nobody is only where none of them is', (t) => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (board, { names, nowMs }) => {
        const states = new Map(names.map((name) => [name, board.stateOf(name, nowMs)]));
        const one = picked(board, nowMs),
          isUsable = [...states.values()].some((state) => ASKED.includes(state));
        if (one === null) return t.false(isUsable);
        t.true(ASKED.includes(states.get(one)!), `${one} ${states.get(one)}`);
        const isWell = (name: string) => states.get(name) === 'healthy' && board.healthOf(name, nowMs).failures < 2;
        if (states.get(one) === 'lagging') t.false(names.some(isWell), 'a healthy one that is not down comes first');
        t.false(picked(board, nowMs, [one]) === one, 'what was asked is not asked again');
      });
    }),
  );
});

test('G14: one of another network is asked by nobody until it is found to be of this one', (t) => {
  fc.assert(
    fc.property(story, (told) => {
      const wrong = new Set<string>();
      play(told, (board, { name, outcome, nowMs, names }) => {
        if (outcome === 'wrong_network') wrong.add(name);
        if (outcome === 'ok') wrong.delete(name);
        for (const one of names) t.is(board.stateOf(one, nowMs) === 'wrong_network', wrong.has(one));
        const one = picked(board, nowMs);
        t.false(one !== null && wrong.has(one));
      });
    }),
  );
});

test('the first failure costs the turn alone, further ones at most a minute and half; a good answer ends every pause', (t) => {
  fc.assert(
    fc.property(story, (told) => {
      play(told, (board, { name, outcome, nowMs, askedMs, failures }) => {
        const pauseMs = board.notBeforeMs(name) - nowMs;
        t.is(board.healthOf(name, nowMs).failures, failures);
        if (outcome === 'ok') t.true(pauseMs <= 0);
        if (outcome !== 'failed') return;
        t.true(pauseMs >= (askedMs ?? 0), 'a Retry-After is honoured');
        if (failures === 1) t.is(pauseMs, askedMs ?? 0);
        else t.true(pauseMs <= Math.max(LONGEST_PAUSE_MS, askedMs ?? 0));
      });
    }),
  );
});

test('each endpoint has its turn where all of them are well', (t) => {
  const names = ['a', 'b', 'c'],
    board = new EndpointBoard(names, { chain: 'eth' });
  const asked = Array.from({ length: 6 }, () => board.pick([], 1));
  t.deepEqual(asked, ['a', 'b', 'c', 'a', 'b', 'c']);
});
