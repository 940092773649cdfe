/** Issue 9, line 5: refills of pools over long histories: one under way for each chain, no answer of before counts. */
import test from 'ava';
import fc from 'fast-check';
import { REFILL_MAX, REFILL_PAUSE_MS, Refills, type Flight } from '../../../gateway/edge-stream/refills.ts';
import { POOLED_CHAINS } from '../../../protocol/slugs.ts';

const SESSIONS = ['ses_a', 'ses_b', 'ses_c'] as const;
const step = fc.oneof(
  fc.record({
    do: fc.constant('ask' as const),
    session: fc.constantFrom(...SESSIONS),
    chain: fc.constantFrom(...POOLED_CHAINS),
    from: fc.nat(3),
    count: fc.integer({ min: 1, max: REFILL_MAX }),
  }),
  fc.record({ do: fc.constant('answer' as const), at: fc.nat(50), useful: fc.boolean() }),
  fc.record({ do: fc.constant('close' as const), session: fc.constantFrom(...SESSIONS) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3 * REFILL_PAUSE_MS) }),
);

test('issue 9: over any history a chain has one refill under way, an answer counts once, none is stuck', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const refills = new Refills(),
        sent: Flight[] = [],
        counts = new Map<string, Flight>(); // what the test says is under way
      const uselessAtMs = new Map<string, number>();
      let nowMs = 0;
      for (const one of steps) {
        if (one.do === 'wait') nowMs += one.ms;
        else if (one.do === 'close') {
          refills.closed(one.session);
          for (const [chain, flight] of counts) if (flight.sessionId === one.session) counts.delete(chain);
        } else if (one.do === 'ask') {
          const flight = refills.ask(one.session, one, nowMs);
          if (flight === null) continue;
          t.not(counts.get(one.chain)?.sessionId, one.session, 'asked for while it is under way there');
          t.true(nowMs - (uselessAtMs.get(one.chain) ?? -Infinity) >= REFILL_PAUSE_MS, 'asked for within the pause');
          t.true(flight.count >= one.count && flight.count <= REFILL_MAX);
          t.like(flight, { sessionId: one.session, chain: one.chain, from: one.from });
          counts.set(one.chain, flight);
          sent.push(flight);
        } else {
          const flight = sent[one.at];
          if (flight === undefined) continue;
          const isUnderWay = counts.get(flight.chain) === flight;
          t.is(refills.answered(flight, one.useful, nowMs), isUnderWay && one.useful);
          if (!isUnderWay) continue;
          counts.delete(flight.chain);
          if (one.useful) uselessAtMs.delete(flight.chain);
          else uselessAtMs.set(flight.chain, nowMs);
        }
      }
      for (const session of SESSIONS) refills.closed(session);
      nowMs += REFILL_PAUSE_MS;
      for (const chain of POOLED_CHAINS)
        t.not(refills.ask('ses_a', { chain, from: 0, count: 1 }, nowMs), null, 'stuck');
    }),
    { numRuns: 300 },
  );
  t.pass();
});
