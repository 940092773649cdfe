/**
 * What must hold whatever happens. Each check has a name, and each name is proven by a planted bug in
 * `checks.test.ts`; what they find is a list, so that no code under test can swallow it.
 */
import type { OutboxWrite } from '../../edge/link/outbox.ts';
import type { Sent } from '../../edge/link/outbox-sender.ts';
import type { Delivery } from '../../edge/webhooks/post.ts';
import type { RecordedAttempt } from '../../actors/webhook/recorder.ts';
import type { Unsigned } from '../../chains/chain.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { LEASE_TTL_MS } from '../../protocol/frames.ts';
import type { StoryDatabase } from './database.ts';
import type { EdgeProcess } from './edge-process.ts';
import type { Machine } from './machine.ts';
import type { Receivers } from './receiver.ts';
import { SPEND_CAPS } from './spending.ts';

export const CHECKS = [
  'one leader',
  'old epoch',
  'epochs rise',
  'lane order',
  'recorded once it was made',
  'outbox order',
  'spend cap',
  'signed once',
  'value used once',
  'no event lost',
  'convergence',
] as const;
/** What only the real functions can break. */
export const SQL_CHECKS = ['due in time', 'bounded statement', 'innocent first', 'granted epoch'] as const;
export type CheckName = (typeof CHECKS | typeof SQL_CHECKS)[number];

export interface Violation {
  readonly check: CheckName;
  readonly text: string;
}

/** A report of a replica that does not lead is given up after two terms: edge/link/session.ts. Milliseconds. */
const SUPERSEDED_AFTER_MS = 2 * LEASE_TTL_MS;

interface Spent {
  readonly subject: string;
  readonly atMs: number;
  readonly amount: bigint;
  readonly purpose: 'cloud' | 'withdrawal';
}

export class Checks {
  readonly violations: Violation[] = [];
  /** Signatures that were made: transaction → payload. */
  readonly signatures = new Map<string, string>();
  readonly #machine: Machine;
  readonly #database: StoryDatabase;
  readonly #receivers: Receivers;
  readonly #edges: () => readonly (EdgeProcess | null)[];
  readonly #purposes: ReadonlyMap<string, Spent['purpose']>;
  readonly #tries = new Set<string>();
  readonly #posted = new Set<string>();
  readonly #spent = new Map<string, Spent[]>();
  /** Kinds that a replica sends now. */
  readonly #sending = new Map<EdgeProcess, Set<string>>();
  readonly #seen = new Map<EdgeProcess, number>();
  #epoch = 0;
  #ownerEpoch = 0;

  constructor(around: {
    machine: Machine;
    database: StoryDatabase;
    receivers: Receivers;
    edges: () => readonly (EdgeProcess | null)[];
    purposes: ReadonlyMap<string, Spent['purpose']>;
  }) {
    this.#machine = around.machine;
    this.#database = around.database;
    this.#receivers = around.receivers;
    this.#edges = around.edges;
    this.#purposes = around.purposes;
    this.#database.onFound = (check, text) => this.note(check, text);
    this.#database.deliveries.onRecorded = (attempt) => this.#recorded(attempt);
  }

  note(check: CheckName, text: string): void {
    this.violations.push({ check, text: `${check}: ${text}` });
  }

  /** After every single event: who believes to lead does, alone; no epoch fell. */
  always(): void {
    const { lease } = this.#database.state;
    if (lease.epoch < this.#epoch)
      this.note('epochs rise', `the account's epoch fell from ${this.#epoch} to ${lease.epoch}`);
    if (this.#database.ownerEpoch < this.#ownerEpoch) this.note('epochs rise', 'the owner epoch fell');
    this.#epoch = lease.epoch;
    this.#ownerEpoch = this.#database.ownerEpoch;
    let leading: EdgeProcess | null = null;
    for (const edge of this.#edges()) {
      if (edge === null || edge.process.dead) continue;
      const { held, leaseEpoch } = edge.lease.view();
      const before = this.#seen.get(edge) ?? 0;
      if (leaseEpoch < before)
        this.note('epochs rise', `${edge.process.name} went from epoch ${before} back to ${leaseEpoch}`);
      this.#seen.set(edge, leaseEpoch);
      if (!held) continue;
      if (leading !== null)
        this.note('one leader', `${leading.process.name} and ${edge.process.name} both believe to lead`);
      leading = edge;
      if (leaseEpoch > lease.epoch)
        this.note('epochs rise', `${edge.process.name} believes in epoch ${leaseEpoch}, which nobody granted`);
      else if (leaseEpoch === lease.epoch && lease.holder !== edge.sessionId)
        this.note('one leader', `${edge.process.name} leads in another's epoch`);
    }
  }

  /** A webhook leaves a replica. */
  posted(edge: EdgeProcess, { deliveryId, attempt }: Delivery): void {
    const key = `${deliveryId}/${attempt}`,
      { lease } = this.#database.state,
      { held, leaseEpoch } = edge.lease.view();
    const isCurrent =
      held &&
      leaseEpoch === lease.epoch &&
      lease.holder === edge.sessionId &&
      edge.frameEpochs.get(key)?.has(lease.epoch) === true;
    if (!isCurrent) {
      this.note(
        'old epoch',
        `${edge.process.name} posts ${key} in epoch ${leaseEpoch}${held ? '' : ', not held'}, while epoch ${lease.epoch} is current`,
      );
    }
    this.#tries.add(key);
    const row = this.#database.deliveries.rows.get(deliveryId)!;
    if (attempt !== 1 || row.replay !== 0 || this.#posted.has(deliveryId)) return;
    this.#posted.add(deliveryId);
    for (const other of this.#database.deliveries.rows.values()) {
      const isBefore =
        other.replay === 0 &&
        other.webhookId === row.webhookId &&
        other.orderKey === row.orderKey &&
        other.seq < row.seq;
      if (isBefore && !this.#posted.has(other.id))
        this.note('lane order', `event ${row.seq} leaves before event ${other.seq} of its address and endpoint`);
    }
  }

  /** A signature is made. */
  signed(edge: EdgeProcess, transactionId: string, { payload, amount, feeMax }: Unsigned): void {
    const { lease } = this.#database.state,
      { held, leaseEpoch } = edge.lease.view();
    if (!held || leaseEpoch !== lease.epoch || lease.holder !== edge.sessionId)
      this.note('old epoch', `${edge.process.name} signs ${transactionId} and does not lead`);
    const before = this.signatures.get(transactionId);
    if (before !== undefined && before !== payload)
      this.note('signed once', `${transactionId} is signed for a second payload`);
    this.signatures.set(transactionId, payload);
    this.#spend(edge, {
      subject: transactionId,
      atMs: this.#machine.nowMs,
      amount: amount + feeMax,
      purpose: this.#purposes.get(transactionId)!,
    });
  }

  #spend(edge: EdgeProcess, spent: Spent): void {
    const { name } = edge.process.host,
      before = this.#spent.get(name) ?? [];
    if (before.some(({ subject }) => subject === spent.subject)) return;
    const all = [...before, spent];
    this.#spent.set(name, all);
    const cap = (spent.purpose === 'cloud' ? SPEND_CAPS.spendCaps : SPEND_CAPS.withdrawalCaps).get('eth')!;
    // A host's clock is a little fast or slow: what left the window by less than that counts neither way.
    const sinceMs = spent.atMs - SPEND_CAPS.spendWindowMs * 0.99;
    const sum = all
      .filter(({ atMs, purpose }) => purpose === spent.purpose && atMs > sinceMs)
      .reduce((total, { amount }) => total + amount, 0n);
    if (sum > cap)
      this.note(
        'spend cap',
        `${name} signed for ${sum} within the window, its cap is ${cap}: ${all
          .filter(({ purpose }) => purpose === spent.purpose)
          .map(({ atMs, amount }) => `${amount} at ${Math.round(atMs / 1_000)} s`)
          .join(', ')}`,
      );
  }

  /** Writes leave a replica's outbox. */
  sending(edge: EdgeProcess, writes: readonly OutboxWrite[]): void {
    const { kind, lane } = writes[0]!;
    const waiting = edge.disk
      .outbox()
      .filter((write) => write.kind === kind && write.lane === lane)
      .slice(0, writes.length)
      .map(({ seq }) => seq);
    if (writes.some(({ seq }, place) => seq !== waiting[place])) {
      this.note(
        'outbox order',
        `${edge.process.name} sends ${writes.map(({ seq }) => seq).join()} while ${waiting.join()} wait first`,
      );
    }
    const sending = this.#sending.get(edge) ?? new Set<string>();
    if (sending.has(kind)) this.note('outbox order', `${edge.process.name} sends ${kind} twice at once`);
    this.#sending.set(edge, sending.add(kind));
  }

  /** What a replica is about to forget is known to the cloud. */
  sent(edge: EdgeProcess, writes: readonly OutboxWrite[], { kind }: Sent): void {
    if (kind !== 'taken') return;
    const { deliveries, withdrawals } = this.#database;
    for (const { subject, kind: of } of writes) {
      const isSuperseded = of === 'attempt' && edge.lease.followingMs() > SUPERSEDED_AFTER_MS;
      const [transactionId = '', txid] = subject.split('/');
      const isKnown =
        of === 'attempt'
          ? deliveries.attempts.has(subject)
          : withdrawals.get(transactionId)?.versions.some((version) => version.txid === txid) === true ||
            wasOutrun(withdrawals, transactionId);
      if (!isKnown && !isSuperseded)
        this.note('recorded once it was made', `${edge.process.name} forgets ${of} ${subject}, which nobody recorded`);
    }
  }

  /** Whatever became of what a replica sent. */
  rests(edge: EdgeProcess, kind: string): void {
    this.#sending.get(edge)?.delete(kind);
  }

  /** An attempt is recorded: it was made, and ended as it is said. */
  #recorded({ deliveryId, attempt, statusCode }: RecordedAttempt): void {
    const key = `${deliveryId}/${attempt}`;
    const receipts = this.#receivers.receipts.get(key) ?? [];
    const isTrue =
      statusCode === null ? this.#tries.has(key) : receipts.some((receipt) => receipt.statusCode === statusCode);
    if (!isTrue)
      this.note('recorded once it was made', `${key} is recorded with ${statusCode}, and no endpoint said so`);
  }
}

/**
 * Signed by a replica that was away for so long that its counter value went to another transaction: of the two
 * at most one lands, and the cloud decided against the late one and said so.
 */
export function wasOutrun(withdrawals: ReadonlyMap<string, WithdrawalRow>, transactionId: string): boolean {
  const known = withdrawals.get(transactionId);
  if (known === undefined || known.versions.length > 0) return false;
  const { replayKey } = known.unsigned;
  return (
    known.status === 'expired' ||
    [...withdrawals.values()].some(
      ({ id, versions, from, unsigned }) =>
        id !== transactionId &&
        (versions.length > 0 || unsigned.boundAtMs !== undefined) &&
        from === known.from &&
        String(unsigned.replayKey.value) === String(replayKey.value),
    )
  );
}
