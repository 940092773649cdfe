/** The life of one chain's watcher as a pure state machine: the table at the top of rounds.ts, over long histories. */
import test from 'ava';
import fc from 'fast-check';
import {
  IDENTITY_EVERY_MS,
  pauseMsOf,
  Rounds,
  WRONG_NETWORK_EVERY_MS,
  type RoundsState,
  type Step,
  type Ticked,
} from '../../../chain-watchers/rounds.ts';

const POLL_MS = 3_000;
const FINE: Ticked = { more: false, failed: false, superseded: false, stopped: false };

/** A shell by hand: a clock, doubts, an endpoint of another network, and the step under way. */
class Hand {
  readonly rounds = new Rounds(POLL_MS);
  elapsedMs = 0;
  doubts = 0;
  isOut = false;
  step: Step | null = null;

  moment() {
    const { elapsedMs, doubts, isOut } = this;
    return { elapsedMs, doubts, isOut };
  }
  begin(): Step | null {
    return (this.step = this.rounds.begin(this.moment()));
  }
  done(): Step | null {
    return (this.step = this.rounds.done(this.step!, this.moment()));
  }
  ticked(report: Partial<Ticked> = {}): void {
    this.rounds.ticked(this.step!, { ...FINE, ...report });
    this.step = null;
  }
  /** A whole round in which everything is answered; the works that were asked for. */
  round(report: Partial<Ticked> = {}): string {
    const works: string[] = [];
    for (this.begin(); this.step !== null;) {
      works.push(this.step.work);
      if (this.step.work === 'tick') this.ticked(report);
      else this.done();
    }
    return works.join(' ');
  }
}

test('house 9: the rounds of a chain: begin once, identify when it is due or doubted, then tick', (t) => {
  const hand = new Hand();
  t.is(hand.rounds.state, 'new');
  t.is(hand.round(), 'begin identify check_tokens tick');
  t.is(hand.rounds.state, 'following');
  t.is(hand.round(), 'tick');
  hand.doubts += 1;
  t.is(hand.round(), 'identify tick', 'a doubt compares no tokens');
  t.is(hand.round(), 'tick');
  hand.isOut = true;
  t.is(hand.round(), 'tick', 'looked at a moment ago');
  hand.elapsedMs += WRONG_NETWORK_EVERY_MS;
  t.is(hand.round(), 'identify tick');
  hand.isOut = false;
  hand.elapsedMs += IDENTITY_EVERY_MS - WRONG_NETWORK_EVERY_MS - 1;
  t.is(hand.round(), 'tick');
  hand.elapsedMs += 1;
  t.is(hand.round(), 'identify check_tokens tick');
});

test('house 9: a doubt that is raised while a look is under way asks for another one', (t) => {
  const hand = new Hand();
  hand.round();
  hand.doubts += 1;
  t.is(hand.begin()!.work, 'identify');
  hand.doubts += 1;
  t.is(hand.done()!.work, 'tick');
  hand.ticked();
  t.is(hand.round(), 'identify tick');
});

test('house 9: being superseded, stopped and ended are states, and a report takes the first two back', (t) => {
  const hand = new Hand();
  hand.round({ failed: true, superseded: true });
  t.is(hand.rounds.state, 'superseded');
  t.is(hand.rounds.pauseMs(), pauseMsOf(POLL_MS, 1, false));
  t.is(hand.round(), 'tick', 'what the other one recorded is read');
  t.is(hand.rounds.state, 'following');
  hand.round({ stopped: true });
  t.is(hand.rounds.state, 'stopped');
  hand.round();
  t.is(hand.rounds.state, 'following');
  const step = hand.begin()!;
  hand.rounds.end();
  hand.rounds.ticked(step, { ...FINE, superseded: true });
  t.is(hand.rounds.state, 'ended');
  t.is(hand.begin(), null);
  t.is(hand.rounds.pauseMs(), null);
});

test('house 9: an answer of a round that a fault ended changes nothing', (t) => {
  const hand = new Hand(),
    lost = hand.begin()!;
  hand.rounds.faulted();
  t.is(hand.rounds.state, 'new');
  t.is(hand.rounds.done(lost, hand.moment()), null);
  t.is(hand.begin()!.work, 'begin', 'it is not known to be durable');
  hand.rounds.failed(lost);
  t.is(hand.rounds.state, 'starting');
});

type Input =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'doubt' | 'begin' | 'answer' | 'fail' | 'fault' | 'stale' | 'end' }
  | { readonly kind: 'out'; readonly isOut: boolean }
  | { readonly kind: 'report'; readonly report: Ticked };

const INPUT: fc.Arbitrary<Input> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(400_000) }) },
  {
    weight: 20,
    arbitrary: fc.record({ kind: fc.constantFrom('begin' as const, 'answer' as const, 'answer' as const) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('doubt' as const, 'fail' as const, 'fault' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stale' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('out' as const), isOut: fc.boolean() }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      report: fc.record({
        more: fc.boolean(),
        failed: fc.boolean(),
        superseded: fc.boolean(),
        stopped: fc.boolean(),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
);

/** What must hold, judged from the inputs and the steps alone. */
class Judge {
  readonly #t: Hand;
  #begun = false;
  #identifiedAtMs: number | null = null;
  #tokens = false;
  /** Doubts that the last look which succeeded knew of. */
  #doubtsKnown = 0;
  #doubtsAtLook = 0;
  #failures = 0;
  #more = false;
  #numbers = new Set<number>();

  constructor(hand: Hand) {
    this.#t = hand;
  }

  asked(step: Step | null, before: Step | null): void {
    if (step === null) return;
    if (this.#numbers.has(step.number)) throw new Error('a step is asked for twice under one number');
    this.#numbers.add(step.number);
    const { elapsedMs, doubts } = this.#t;
    if ((step.work === 'begin') === this.#begun) throw new Error(`${step.work}, begun: ${this.#begun}`);
    if (step.work === 'identify') this.#doubtsAtLook = doubts;
    if (step.work === 'check_tokens' && before?.work !== 'identify') throw new Error('tokens of an unknown network');
    if (step.work !== 'tick') return;
    const isFresh = this.#identifiedAtMs !== null && elapsedMs - this.#identifiedAtMs < IDENTITY_EVERY_MS,
      isFromLook = before?.work === 'identify' || before?.work === 'check_tokens';
    if (!isFresh && !isFromLook) throw new Error('blocks of nodes whose network nobody looked at');
    if (!this.#tokens) throw new Error('blocks before the tokens were compared');
    if (!isFromLook && this.#doubtsKnown !== doubts) throw new Error('blocks in spite of a doubt');
  }

  done({ work }: Step): void {
    if (work === 'begin') this.#begun = true;
    if (work === 'identify') {
      this.#doubtsKnown = this.#doubtsAtLook;
      this.#identifiedAtMs ??= this.#t.elapsedMs;
    }
    if (work === 'check_tokens') {
      this.#tokens = true;
      this.#identifiedAtMs = this.#t.elapsedMs;
    }
  }

  over(failed: boolean, more = this.#more): void {
    this.#failures = failed ? this.#failures + 1 : 0;
    this.#more = more;
  }

  pauses(): void {
    const { rounds } = this.#t,
      pauseMs = rounds.pauseMs();
    if (rounds.state === 'ended') {
      if (pauseMs !== null) throw new Error('a round after the end');
    } else if (pauseMs !== pauseMsOf(POLL_MS, this.#failures, this.#more)) throw new Error(`pause ${pauseMs}`);
  }
}

const STATE_WHILE: Readonly<Record<Step['work'], RoundsState>> = {
  begin: 'starting',
  identify: 'identifying',
  check_tokens: 'checking',
  tick: 'ticking',
};

test('house 9: over any history one step is under way, each answer is of what asked, no block is read of nodes that were not identified, nothing begins after the end', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(INPUT, { minLength: 20, maxLength: 300 }), (inputs) => {
        const hand = new Hand(),
          judge = new Judge(hand),
          stale: Step[] = [];
        let isEnded = false;
        const take = (next: Step | null, before: Step | null) => {
          judge.asked(next, before);
          if (isEnded && next !== null) throw new Error('a step after the end');
          hand.step = next;
        };
        for (const input of inputs) {
          const { step, rounds } = hand;
          if (input.kind === 'pass') hand.elapsedMs += input.ms;
          else if (input.kind === 'doubt') hand.doubts += 1;
          else if (input.kind === 'out') hand.isOut = input.isOut;
          else if (input.kind === 'begin' && step === null) take(rounds.begin(hand.moment()), null);
          else if (input.kind === 'answer' && step !== null && step.work !== 'tick') {
            judge.done(step);
            take(rounds.done(step, hand.moment()), step);
            stale.push(step);
          } else if (input.kind === 'report' && step?.work === 'tick') {
            const { failed, stopped, superseded, more } = input.report;
            rounds.ticked(step, input.report);
            judge.over(failed || stopped, more);
            hand.step = null;
            stale.push(step);
            const expected = stopped ? 'stopped' : superseded ? 'superseded' : 'following';
            if (rounds.state !== expected) throw new Error(`${rounds.state} after ${expected}`);
          } else if (input.kind === 'fail' && step !== null) {
            rounds.failed(step);
            judge.over(true);
            hand.step = null;
            stale.push(step);
          } else if (input.kind === 'fault' && step !== null) {
            rounds.faulted();
            hand.step = null;
            stale.push(step);
          } else if (input.kind === 'stale' && stale.length > 0) {
            const old = stale.at(-1)!,
              before = [rounds.state, rounds.pauseMs()];
            if (rounds.done(old, hand.moment()) !== null) throw new Error('a stale answer asks for more');
            rounds.failed(old);
            rounds.ticked(old, { more: true, failed: true, superseded: true, stopped: true });
            if (String([rounds.state, rounds.pauseMs()]) !== String(before)) throw new Error('a stale answer counted');
          } else if (input.kind === 'end' && step === null) {
            rounds.end();
            isEnded = true;
          }
          if (hand.step !== null && rounds.state !== STATE_WHILE[hand.step.work]) throw new Error(rounds.state);
          judge.pauses();
        }
      }),
      { numRuns: 300 },
    ),
  );
});
