import test from 'ava';
import fc from 'fast-check';
import { Outgoing, REFUSED_PAUSE_MS, type Frame, type Release } from '../../../actors/webhook/outgoing.ts';
import type { DueDelivery } from '../../../model/ports/delivery-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';

const ACCOUNTS: readonly AccountId[] = [0, 1].map(() => accountIdOf(newId('org', 0), 'live'));
const HOOKS = ['hook_a', 'hook_b'];
const LEADING = new Set(ACCOUNTS);
const CLAIM_MS = 5_000;

interface Row {
  readonly id: string;
  readonly accountId: AccountId;
  readonly webhookId: string;
  readonly orderKey: string;
  state: 'due' | 'claimed' | 'ended';
  attempts: number;
  /** Rises with each claim. */
  claim: number;
}

/** A store, edges and a network that may fail at every step, around the memory under test. */
class World {
  readonly outgoing = new Outgoing();
  readonly rows: Row[] = [];
  readonly disabled = new Set<string>();
  /** What edges have been sent and did not report. */
  readonly atEdge = new Map<string, Row>();
  elapsedMs = 0;

  publish(account: number, hook: number, key: number): void {
    const accountId = ACCOUNTS[account]!;
    this.rows.push({
      id: `dlv_${this.rows.length}`,
      accountId,
      webhookId: `${HOOKS[hook]!}/${account}`,
      orderKey: `key_${key}`,
      state: 'due',
      attempts: 0,
      claim: 0,
    });
    this.outgoing.ring([accountId]);
  }

  /** `lost`: the store claims, its answer does not arrive. `during` happens between the question and the answer. */
  round(fault: 'none' | 'lost', during: () => void): void {
    const accountIds = this.outgoing.takeRung(LEADING);
    if (accountIds.length === 0) return during();
    this.settleDoubts();
    const untilMs = this.elapsedMs + CLAIM_MS,
      seenMs = this.elapsedMs;
    const due = this.#claimDue(accountIds, this.outgoing.beginClaim(accountIds));
    during();
    if (fault === 'lost') return this.outgoing.unanswered(accountIds);
    const taken = this.outgoing.claimed(accountIds, due, { untilMs, seenMs });
    this.release(taken, 'none');
  }

  settleDoubts(): void {
    const doubts = this.outgoing.doubts();
    if (doubts === null) return;
    for (const row of this.rows) {
      if (!doubts.shards.has(shardOf(row.accountId)) || row.state !== 'claimed') continue;
      row.state = 'due';
      this.atEdge.delete(row.id); // it leaves out what it has
    }
    this.outgoing.doubtsSettled(doubts);
  }

  release({ accountIds, claims }: Release, fault: 'none' | 'lost'): void {
    for (const { deliveryId } of claims) this.atEdge.delete(deliveryId);
    if (claims.length === 0) return;
    if (fault === 'lost') return this.outgoing.unanswered(accountIds);
    for (const { deliveryId, claimedUntil } of claims) {
      const row = this.#row(deliveryId);
      if (row.state === 'claimed' && String(row.claim) === claimedUntil) row.state = 'due';
    }
  }

  /** Every frame that may leave does; `answer` is what the edge says of it. The first wrong one, or null. */
  send(answer: 'taken' | 'full' | 'silent' | 'held', fault: 'none' | 'lost'): string | null {
    for (const taken of this.outgoing.takeFrames()) {
      const frame = this.#refreshed(taken, fault);
      if (frame === null || frame.flights.length === 0) continue;
      if (answer === 'held') {
        const ids = frame.flights.map(({ due }) => due.delivery.id);
        for (const row of this.rows) if (ids.includes(row.id)) row.state = 'ended';
        this.outgoing.held(frame.accountId, ids);
        continue;
      }
      for (const { due } of frame.flights) {
        const wrong = this.#wrongWith(due);
        if (wrong !== null) return wrong;
        if (answer !== 'full') this.atEdge.set(due.delivery.id, this.#row(due.delivery.id));
      }
      const said =
        answer === 'taken' ? { ok: true } : answer === 'full' ? { ok: false, code: 'EDGE_OUTBOX_FULL' } : null;
      this.outgoing.acknowledged(frame.accountId, frame.flights.length, said as never);
      if (answer === 'taken') continue;
      for (const { due } of frame.flights) this.atEdge.delete(due.delivery.id); // repeated later: left out there
      this.outgoing.pause(frame, this.elapsedMs);
    }
    return null;
  }

  report(pick: number, outcome: 'delivered' | 'failed' | 'gone'): void {
    const row = [...this.atEdge.values()][pick % Math.max(1, this.atEdge.size)];
    if (row === undefined) return;
    this.atEdge.delete(row.id);
    row.attempts += 1;
    row.state = outcome === 'failed' ? 'due' : 'ended';
    if (outcome === 'gone') this.disabled.add(row.webhookId);
    const attempt = { deliveryId: row.id, attempt: row.attempts, next: { disableEndpoint: outcome === 'gone' } };
    this.outgoing.recorded(row.accountId, attempt);
    this.outgoing.ring([row.accountId]);
  }

  pass(ms: number, fault: 'none' | 'lost'): void {
    this.elapsedMs += ms;
    this.release(this.outgoing.poll(this.elapsedMs, LEADING), fault);
  }

  leaderLost(account: number, fault: 'none' | 'lost'): void {
    this.release(this.outgoing.leaderLost(ACCOUNTS[account]!), fault);
    for (const [id, row] of this.atEdge) if (row.accountId === ACCOUNTS[account]) this.atEdge.delete(id);
  }

  /** A claim of the store that is neither here nor in doubt is forgotten; one here that the store has not, invented. */
  imbalance(): string[] {
    const doubtful = this.outgoing.doubts()?.shards ?? new Set<number>();
    return this.rows.flatMap((row) => {
      if (doubtful.has(shardOf(row.accountId))) return [];
      const isHere = this.outgoing.find(row.accountId, row.id) !== undefined;
      return isHere === (row.state === 'claimed') ? [] : [`${row.id} is ${row.state}, here: ${isHere}`];
    });
  }

  #row(id: string): Row {
    return this.rows.find((row) => row.id === id)!;
  }

  /** In publication order; a first attempt behind one that is due and not claimed with it stays. */
  #claimDue(accountIds: readonly AccountId[], busy: readonly string[]): DueDelivery[] {
    const blocked = new Set<string>();
    return this.rows.flatMap((row) => {
      if (row.state !== 'due') return [];
      const { webhookId, accountId, orderKey } = row,
        lane = `${webhookId}|${orderKey}`;
      const isOpen = accountIds.includes(accountId) && !busy.includes(webhookId) && !this.disabled.has(webhookId);
      if (!isOpen || (row.attempts === 0 && blocked.has(lane))) {
        if (row.attempts === 0) blocked.add(lane);
        return [];
      }
      row.state = 'claimed';
      row.claim += 1;
      return [this.#due(row)];
    });
  }

  #due({ id, accountId, webhookId, orderKey, attempts, claim }: Row): DueDelivery {
    const status = attempts === 0 ? 'pending' : 'failed';
    return {
      delivery: { id, eventId: `evt_${id}`, webhookId, replay: 0, status, attempts, nextAttemptAtMs: 0 },
      accountId,
      url: 'https://hook.example/',
      sealedSecrets: [],
      body: '{}',
      orderKey,
      claimedUntil: String(claim),
    };
  }

  #refreshed(frame: Frame, fault: 'none' | 'lost'): Frame | null {
    const asked = this.outgoing.unseen(frame, this.elapsedMs);
    if (asked.length === 0) return frame;
    if (fault === 'lost') {
      this.outgoing.pause(frame, this.elapsedMs);
      return null;
    }
    const standing = asked
      .filter(({ webhookId }) => !this.disabled.has(webhookId))
      .map((one) => ({ ...one, url: 'https://hook.example/', sealedSecrets: [] }));
    const seen = this.outgoing.seen(frame, asked, standing, this.elapsedMs);
    this.release(seen, 'none');
    if (seen.again) this.outgoing.ring([frame.accountId]);
    return { accountId: frame.accountId, flights: seen.flights };
  }

  #wrongWith({ delivery: { id, attempts } }: DueDelivery): string | null {
    const row = this.#row(id);
    if (this.atEdge.has(id)) return `${id} is in flight twice`;
    if (row.state !== 'claimed') return `${id} is sent and ${row.state}`;
    if (attempts > 0) return null;
    const earlier = this.rows
      .slice(0, this.rows.indexOf(row))
      .find(
        (other) =>
          other.webhookId === row.webhookId &&
          other.orderKey === row.orderKey &&
          other.attempts === 0 &&
          other.state !== 'ended',
      );
    return earlier === undefined ? null : `${id} overtakes ${earlier.id}`;
  }
}

const fault = fc.constantFrom('none' as const, 'none' as const, 'lost' as const);
const small = fc.nat({ max: 1 });
const simple = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), account: small, hook: small, key: small }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      pick: fc.nat(20),
      outcome: fc.constantFrom('delivered' as const, 'delivered' as const, 'failed' as const, 'gone' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(5, 500, 6_000), fault }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leaderLost' as const), account: small, fault }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), account: small, hook: small }) },
);
const step = fc.oneof(
  { weight: 4, arbitrary: simple },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('round' as const), fault, during: fc.array(simple, { maxLength: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      answer: fc.constantFrom('taken' as const, 'taken' as const, 'full' as const, 'silent' as const, 'held' as const),
      fault,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function run(world: World, one: Step): string | null {
  switch (one.do) {
    case 'publish':
      return (world.publish(one.account, one.hook, one.key), null);
    case 'report':
      return (world.report(one.pick, one.outcome), null);
    case 'pass':
      return (world.pass(one.ms, one.fault), null);
    case 'leaderLost':
      return (world.leaderLost(one.account, one.fault), null);
    case 'toggle': {
      const webhookId = `${HOOKS[one.hook]!}/${one.account}`;
      if (!world.disabled.delete(webhookId)) world.disabled.add(webhookId);
      return null;
    }
    case 'round':
      return (world.round(one.fault, () => one.during.forEach((inner) => run(world, inner))), null);
    case 'send':
      return world.send(one.answer, one.fault);
  }
}

test('house 9: whatever fails and when, order per lane holds, nothing is in flight twice and no claim is forgotten', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const world = new World();
      for (const one of steps) {
        const wrong = run(world, one);
        if (wrong !== null) throw new Error(wrong);
        const imbalance = world.imbalance();
        if (imbalance.length > 0) throw new Error(`after ${one.do}: ${imbalance.join('; ')}`);
      }
      // Everything works again: all that is due ends, each once.
      world.disabled.clear();
      for (let turn = 0; turn < 20 + world.rows.length * 3; turn += 1) {
        world.pass(REFUSED_PAUSE_MS, 'none');
        world.round('none', () => undefined);
        const wrong = world.send('taken', 'none');
        if (wrong !== null) throw new Error(wrong);
        while (world.atEdge.size > 0) world.report(0, 'delivered');
      }
      const left = world.rows.filter(({ state }) => state !== 'ended');
      if (left.length > 0) throw new Error(`never ended: ${left.map(({ id, state }) => `${id} ${state}`).join(', ')}`);
      if (world.outgoing.size > 0) throw new Error('something is remembered of nothing');
    }),
    { numRuns: 300 },
  );
  t.pass();
});
