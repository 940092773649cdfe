/** Who leads in a room as a pure state machine: the table at the top of lead.ts, over long histories. */
import test from 'ava';
import fc from 'fast-check';
import { Lead, type LeadState, type Outcome, type Question, type Stated } from '../../../gateway/edge-stream/lead.ts';
import { Sessions, type Connection } from '../../../gateway/edge-stream/sessions.ts';
import { leaseGraceMs, LEASE_TTL_MS, LIVENESS_STALE_MS } from '../../../protocol/frames.ts';
import { beliefMs } from '../../../edge/link/lease.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';

const STREAM: Connection = { send: () => {}, ask: async () => null, close: () => {} };
const NAMES = ['ses_a', 'ses_b', 'ses_c'] as const;
type Name = (typeof NAMES)[number];
type Fault = 'none' | 'carried out, answer lost' | 'not carried out' | 'refused';

/** An account, edges and a room's shell by hand. */
class World {
  readonly sessions = new Sessions(accountIdOf(newId('org', 0), 'live'));
  lead: Lead;
  /** The account's truth. */
  account: Stated = { epoch: 0, holder: null };
  elapsedMs = 0;
  isAsking = false;
  /** Until when each edge believes that it leads, whatever the node sees of its stream. */
  readonly believesUntilMs = new Map<string, number>();
  readonly epochs: number[] = [];

  constructor() {
    this.lead = new Lead(LEASE_TTL_MS, LEASE_TTL_MS);
  }

  get now() {
    return { nowMs: this.elapsedMs, elapsedMs: this.elapsedMs };
  }
  get leader(): string | null {
    return this.lead.leaderOf(this.sessions.all(), this.elapsedMs)?.id ?? null;
  }

  /** A stream comes up; what the account is asked is answered after `during`. */
  open(name: Name, fault: Fault, during: () => void): void {
    if (this.isAsking || this.sessions.get(name)?.connection) return;
    const session = this.sessions.see(name, { edgeVersion: '1.0.0', podHint: null }, this.now);
    Object.assign(session, { connection: STREAM, leaving: false, connectedMs: this.elapsedMs });
    this.lead.stated(this.account, this.elapsedMs);
    const question = this.lead.claim(name, this.sessions.all(), this.elapsedMs);
    if (question !== null && !this.#ask(question, fault, during)) session.connection = null;
  }

  /** What a tick does. */
  tick(fault: Fault, during: () => void): void {
    if (this.isAsking) return;
    if (this.lead.stateAt(this.elapsedMs) === 'doubtful' && fault === 'none')
      this.lead.stated(this.account, this.elapsedMs);
    if (!this.lead.isVacant(this.sessions.all(), this.elapsedMs)) return;
    this.lead.electionBegins();
    const question = this.lead.election(this.sessions.all(), this.elapsedMs);
    if (question !== null) this.#ask(question, fault, during);
    this.lead.electionEnds();
  }

  beat(name: Name): void {
    const session = this.sessions.get(name);
    if (!session?.connection) return;
    this.sessions.see(name, { edgeVersion: '1.0.0', podHint: null }, this.now);
    if (this.lead.beat(name, this.elapsedMs) !== null) this.#believes(name);
    else this.believesUntilMs.delete(name);
  }

  /** `noticed` false: the edge still takes its stream for up. */
  close(name: Name, byPeer: boolean, noticed: boolean): void {
    const session = this.sessions.get(name);
    if (!session?.connection) return;
    session.connection = null;
    if (byPeer) this.lead.closed(name, this.elapsedMs);
    if (noticed) this.believesUntilMs.delete(name);
  }

  release(name: Name, fault: Fault, during: () => void): void {
    const session = this.sessions.get(name),
      epoch = this.lead.lease?.epoch ?? 0;
    if (this.isAsking || !session?.connection || this.lead.mayAct(name, epoch) !== 'yes') return;
    session.leaving = true;
    this.believesUntilMs.delete(name);
    this.lead.gives();
    this.isAsking = true;
    if (fault === 'none' || fault === 'carried out, answer lost') {
      if (this.account.holder === name) this.account = { epoch: this.account.epoch, holder: null };
    }
    during();
    this.isAsking = false;
    this.lead.released(fault === 'none' ? this.account.epoch : 'unknown');
  }

  /** What must never be so; null where nothing is wrong. */
  wrong(): string | null {
    const { epoch, holder } = this.account,
      { leader } = this;
    if (leader !== null && (leader !== holder || this.lead.lease!.epoch !== epoch))
      return `${leader} leads under ${this.lead.lease!.epoch}, by the account ${holder} under ${epoch}`;
    if ((this.lead.lease?.epoch ?? 0) > epoch) return 'an epoch that the account never gave';
    const believing = [...this.believesUntilMs].filter(([, untilMs]) => untilMs > this.elapsedMs).map(([name]) => name);
    if (believing.length > 1) return `${believing.join(' and ')} believe that they lead`;
    return null;
  }

  /** False where the stream is turned away. */
  #ask(question: Question, fault: Fault, during: () => void): boolean {
    this.isAsking = true;
    const before = this.account;
    const answer = fault === 'refused' || fault === 'not carried out' ? null : this.#decide(question);
    if (before.epoch !== this.account.epoch) this.epochs.push(this.account.epoch);
    during();
    this.isAsking = false;
    const outcome: Outcome =
      fault === 'refused' ? 'refused' : fault === 'none' ? (answer ?? 'refused') : ('unknown' as const);
    this.lead.answered(question, outcome, this.elapsedMs);
    if (typeof outcome === 'number') this.#believes(question.sessionId);
    return outcome !== 'unknown';
  }

  /** As actors/edge-link/lease.ts decides. */
  #decide({ sessionId, liveSessions }: Question): number | null {
    const { epoch, holder } = this.account;
    if (holder === sessionId) return epoch;
    if (holder !== null && liveSessions.includes(holder)) return null;
    this.account = { epoch: epoch + 1, holder: sessionId };
    return epoch + 1;
  }

  #believes(name: string): void {
    this.believesUntilMs.set(name, this.elapsedMs + beliefMs(LEASE_TTL_MS));
  }
}

const name = fc.constantFrom(...NAMES),
  fault = fc.constantFrom<Fault>('none', 'none', 'none', 'carried out, answer lost', 'not carried out', 'refused');
const pass = fc.record({
  do: fc.constant('pass' as const),
  ms: fc.constantFrom(
    1,
    1_000,
    leaseGraceMs(LEASE_TTL_MS) - 1,
    leaseGraceMs(LEASE_TTL_MS),
    LEASE_TTL_MS - 1,
    LEASE_TTL_MS,
    LIVENESS_STALE_MS,
  ),
});
const simple = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('beat' as const), name }) },
  { weight: 2, arbitrary: pass },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), name, byPeer: fc.boolean(), noticed: fc.boolean() }),
  },
);
const step = fc.oneof(
  { weight: 4, arbitrary: simple },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('open' as const, 'open' as const, 'tick' as const, 'tick' as const, 'release' as const),
      name,
      fault,
      during: fc.array(simple, { maxLength: 3 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function run(world: World, one: Step): void {
  const during = () => ('during' in one ? one.during : []).forEach((inner) => run(world, inner));
  switch (one.do) {
    case 'beat':
      return world.beat(one.name);
    case 'pass':
      return void (world.elapsedMs += one.ms);
    case 'close':
      return world.close(one.name, one.byPeer, one.noticed);
    case 'open':
      return world.open(one.name, one.fault, during);
    case 'tick':
      return world.tick(one.fault, during);
    case 'release':
      return world.release(one.name, one.fault, during);
  }
}

test('house 9: whatever answer is lost and when, who leads here leads by the account, one edge believes it, and one leads at last', (t) => {
  const seen = new Set<LeadState>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50, size: 'max' }), (steps) => {
      const world = new World();
      for (const one of steps) {
        run(world, one);
        seen.add(world.lead.stateAt(world.elapsedMs));
        const wrong = world.wrong();
        if (wrong !== null) throw new Error(`after ${one.do}: ${wrong}`);
      }
      if (world.epochs.some((epoch, at) => at > 0 && epoch <= world.epochs[at - 1]!)) throw new Error('an epoch fell');
      // Everything works again.
      for (const each of NAMES) world.close(each, true, true);
      for (const each of NAMES) world.open(each, 'none', () => {});
      for (let second = 0; second <= LEASE_TTL_MS / 1_000; second += 1) {
        world.elapsedMs += 1_000;
        for (const each of NAMES) world.beat(each);
        world.tick('none', () => {});
        const wrong = world.wrong();
        if (wrong !== null) throw new Error(wrong);
      }
      const { epoch } = world.account;
      if (world.leader === null || world.leader !== world.account.holder) throw new Error('nobody leads');
      for (let second = 0; second < 100; second += 1) {
        world.elapsedMs += 1_000;
        for (const each of NAMES) world.beat(each);
        world.tick('none', () => {});
      }
      if (world.account.epoch !== epoch) throw new Error('a leader that is heard of was replaced');
    }),
    { numRuns: 500 },
  );
  t.deepEqual([...seen].sort(), ['doubtful', 'held', 'late', 'unknown', 'vacant']);
});
