/**
 * The cloud's database: outlives every node, fences like the real one (test/support/memory-store.ts), and projects what
 * is appended: deposits, withdrawals, publications with one delivery for each endpoint, taken facts. A statement takes
 * time; it may fail before it took effect or after, and it takes effect even when its sender is gone by then.
 */
import type { Append, AppendOutcome } from '../../model/entity.ts';
import type { AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import type { AccountStore } from '../../model/ports/account-store.ts';
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';
import type { EdgeStore, SessionRow } from '../../model/ports/edge-store.ts';
import type { InboxStore } from '../../model/ports/inbox-store.ts';
import { NO_CHECKOUT } from '../../model/rows/payment.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { Fact, InboxRow } from '../../model/rows/inbox.ts';
import type { PublicationRow, WebhookRow } from '../../model/rows/webhook.ts';
import type { UsedValue, WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { InstructionRecord, KeySetRecord, LocalKeyRecord } from '../../protocol/frames.ts';
import { MemoryStore } from '../support/memory-store.ts';
import type { CheckName } from './checks.ts';
import { Deliveries, type Delivery } from './deliveries.ts';
import type { Machine, Process } from './machine.ts';

const STATEMENT_MS = { least: 1, below: 6 } as const;

export interface Seed {
  readonly state: AccountState;
  /** How the account came to be what it is, and the rows that were written. */
  readonly events: readonly AccountEvent[];
  readonly rows: readonly RowWrite[];
  readonly addresses: readonly AddressRow[];
  readonly webhooks: readonly WebhookRow[];
}

/** A fact that waits, and until when it is set aside. */
type WaitingFact = InboxRow & { atMs: number; subject: string; tries: number; againAtMs: number };

const SET_ASIDE_MS_FIRST = 1_000;

/** The stores of one node. */
export interface Stores {
  readonly accounts: AccountStore;
  readonly deliveries: DeliveryStore;
  readonly inbox: InboxStore;
  readonly sessions: Pick<
    EdgeStore,
    | 'saveSessions'
    | 'openSessions'
    | 'saveLocalKeys'
    | 'localKeys'
    | 'keysToRevoke'
    | 'saveKeySet'
    | 'keySets'
    | 'saveInstructions'
    | 'instruction'
  >;
  withdrawal(id: string): Promise<WithdrawalRow | null>;
  usedValue(from: string): Promise<UsedValue | null>;
}

/** What a story asks of its database, whichever it is; the maps are what is durable now. */
export interface StoryDatabase {
  /** Share of statements that fail, half of them after they took effect. */
  faultRate: number;
  isDown: boolean;
  readonly ownerEpoch: number;
  readonly deliveries: Pick<Deliveries, 'onRecorded'> & {
    readonly rows: ReadonlyMap<string, Delivery>;
    readonly attempts: ReadonlyMap<string, number | null>;
  };
  readonly publications: ReadonlyMap<string, Pick<PublicationRow, 'eventId' | 'event' | 'body'> & { seq: number }>;
  readonly withdrawals: ReadonlyMap<string, WithdrawalRow>;
  readonly state: AccountState;
  readonly seed: Seed;
  /** Since the seed. */
  readonly events: readonly AccountEvent[];
  readonly waitingFacts: number;
  /** Hears of what the database finds wrong with itself. */
  onFound: (check: CheckName, text: string) => void;
  addFact(fact: Fact, atMs: number): void;
  open(process: Process): Stores;
}

/** The sender's highest counter value that a block of ours used, as `usedValue` of the read store. */
export function usedValue(rows: Iterable<WithdrawalRow>, sender: string): UsedValue | null {
  let used: UsedValue | null = null;
  for (const {
    from,
    height,
    unsigned: { replayKey },
  } of rows) {
    if (from !== sender || height === null || replayKey.kind !== 'nonce') continue;
    if (used === null || replayKey.value > Number(used.value)) used = { value: String(replayKey.value), height };
  }
  return used;
}

/**
 * Lets a statement happen: it takes time, may fail before it took effect or after, and takes effect even when its
 * sender is gone by then.
 */
export function statementOf<T>(
  machine: Machine,
  {
    faults,
    process,
    work,
  }: {
    faults: { readonly faultRate: number; readonly isDown: boolean };
    process: Process;
    work: () => T | Promise<T>;
  },
): Promise<T> {
  const takesMs = () => machine.between(STATEMENT_MS.least, STATEMENT_MS.below) / 2;
  return new Promise((resolve, reject) => {
    const reply = (give: () => void) => machine.after(takesMs(), () => process.run(give));
    machine.after(takesMs(), () => {
      const fails = faults.isDown || machine.chance(faults.faultRate);
      const isLost = fails && (faults.isDown || machine.chance(0.5));
      if (isLost) return reply(() => reject(new Error('the connection was lost before the statement')));
      machine.outside(
        (async () => work())().then(
          (value) =>
            reply(() => (fails ? reject(new Error('the connection was lost after the statement')) : resolve(value))),
          (error: unknown) => reply(() => reject(error)),
        ),
      );
    });
  });
}

export class Database implements StoryDatabase {
  faultRate = 0;
  isDown = false;
  ownerEpoch = 0;
  onFound: StoryDatabase['onFound'] = () => undefined;
  readonly deliveries: Deliveries;
  readonly publications = new Map<string, PublicationRow & { seq: number }>();
  readonly withdrawals = new Map<string, WithdrawalRow>();
  readonly deposits = new Map<string, DepositRow>();
  readonly #machine: Machine;
  readonly #seed: Seed;
  readonly #accounts: MemoryStore<AccountState, AccountEvent, RowWrite>;
  readonly #sessions = new Map<string, SessionRow>();
  readonly #localKeys: LocalKeyRecord[] = [];
  readonly #keySets = new Map<string, KeySetRecord>();
  readonly #instructions = new Map<string, InstructionRecord>();
  #inbox: WaitingFact[] = [];
  #facts = 0;

  constructor(machine: Machine, seed: Seed) {
    this.#machine = machine;
    this.#seed = seed;
    this.#accounts = new MemoryStore({ initial: (id) => (id === seed.state.accountId ? seed.state : null) });
    this.deliveries = new Deliveries(new Map(seed.webhooks.map((row) => [row.id, row])), this.publications);
  }

  /** What the account durably is. */
  get state(): AccountState {
    return this.#accounts.stream(this.#seed.state.accountId)?.state ?? this.#seed.state;
  }

  get seed(): Seed {
    return this.#seed;
  }

  get events(): readonly AccountEvent[] {
    return this.#accounts.stream(this.#seed.state.accountId)?.events ?? [];
  }

  get waitingFacts(): number {
    return this.#inbox.length;
  }

  addFact(fact: Fact, atMs: number): void {
    this.#facts += 1;
    const subject = 'deposit' in fact ? `${fact.deposit.txid}:${fact.deposit.outputIndex}` : fact.withdrawalId;
    this.#inbox.push({
      id: String(this.#facts),
      accountId: this.#seed.state.accountId,
      fact,
      atMs,
      subject,
      tries: 0,
      againAtMs: 0,
    });
  }

  /** A new node takes everything under a new epoch, and what its predecessor had claimed is free. */
  open(process: Process): Stores {
    this.ownerEpoch += 1;
    this.deliveries.releaseAll();
    const accounts = this.#accounts.ownedBy(this.ownerEpoch),
      { deliveries } = this;
    const statement = <T>(work: () => T | Promise<T>) => this.#statement(process, work);
    return {
      accounts: {
        load: (id) => statement(() => accounts.load(id)),
        append: (entry) => statement(() => this.#append(entry, (one) => accounts.append(one))),
      },
      deliveries: {
        claimDue: (ids, limit, nowMs, claimMs, busy, held) =>
          statement(() => deliveries.claim(ids, limit, nowMs, claimMs, busy, held)),
        standing: (_accountId, ids) => statement(() => deliveries.standing(ids)),
        recordAttempts: (attempts) => statement(() => deliveries.record(attempts)),
        releaseClaims: (claims) => statement(() => deliveries.release(claims)),
        releaseAbandoned: () => statement(() => deliveries.releaseAll()),
        holdUnreadable: () => statement(() => []),
        purge: () => statement(() => 0),
        incompletePublications: () => statement(() => 0),
      },
      inbox: {
        inboxOf: (_accountId, limit) => statement(() => this.#inboxOf(limit)),
        accountsWithInbox: (olderThanMs) =>
          statement(() => (this.#due().some(({ atMs }) => atMs < olderThanMs) ? [this.#seed.state.accountId] : [])),
        setAside: (_accountId, id) => statement(() => this.#setAside(id)),
        factsSetAside: () => statement(() => []),
        countSetAside: () => statement(() => this.#inbox.filter(({ tries }) => tries > 0).length),
        retryFacts: () => statement(() => []),
      },
      sessions: {
        saveSessions: (rows) =>
          statement(() => {
            for (const row of rows) this.#sessions.set(row.id, row);
          }),
        openSessions: () => statement(() => [...this.#sessions.values()].filter(({ endedAtMs }) => endedAtMs === null)),
        saveLocalKeys: (_id, records) =>
          statement(() => {
            this.#localKeys.push(...records);
            return [];
          }),
        localKeys: () => statement(() => [...this.#localKeys]),
        keysToRevoke: () => statement(() => []),
        saveKeySet: (_id, set) =>
          statement(() => {
            if ((this.#keySets.get(set.replica)?.version ?? 0) >= set.version) return 'known' as const;
            this.#keySets.set(set.replica, set);
            return 'kept' as const;
          }),
        keySets: () => statement(() => [...this.#keySets.values()]),
        saveInstructions: (_id, records) =>
          statement(() => {
            for (const record of records) {
              const known = this.#instructions.get(record.transactionId);
              if (known === undefined || known.askedAtMs < record.askedAtMs)
                this.#instructions.set(record.transactionId, record);
            }
            return [];
          }),
        instruction: (_id, transactionId) => statement(() => this.#instructions.get(transactionId) ?? null),
      },
      withdrawal: (id) => statement(() => this.withdrawals.get(id) ?? null),
      usedValue: (from) => statement(() => usedValue(this.withdrawals.values(), from)),
    };
  }

  #statement<T>(process: Process, work: () => T | Promise<T>): Promise<T> {
    return statementOf(this.#machine, { faults: this, process, work });
  }

  async #append(
    entry: Append<AccountState, AccountEvent, RowWrite>,
    append: AccountStore['append'],
  ): Promise<AppendOutcome> {
    const waiting = new Set(this.#inbox.map(({ id }) => id));
    const isDecided = entry.rows.some((row) => row.table === 'inbox_taken' && row.ids.some((id) => !waiting.has(id)));
    if (isDecided) return { kind: 'stale' };
    const outcome = await append(entry);
    if (outcome.kind === 'appended') for (const row of entry.rows) this.#project(row);
    return outcome;
  }

  #project(write: RowWrite): void {
    switch (write.table) {
      case 'deposit':
        return void this.deposits.set(`${write.row.txid}:${write.row.outputIndex}`, write.row);
      case 'withdrawal':
        return void this.withdrawals.set(write.row.id, write.row);
      case 'withdrawal_status': {
        const known = this.withdrawals.get(write.id)!;
        const { boundAtMs: _, ...unsigned } = known.unsigned;
        return void this.withdrawals.set(write.id, {
          ...known,
          unsigned,
          status: write.status,
          updatedAtMs: write.updatedAtMs,
        });
      }
      case 'publication':
        return this.#publish(write.row);
      case 'replay':
        return this.deliveries.replay(write.deliveryId, write.newDeliveryId, write.nowMs);
      case 'inbox_taken': {
        const taken = new Set(write.ids);
        this.#inbox = this.#inbox.filter(({ id }) => !taken.has(id));
      }
    }
  }

  /** I12: an event is published once. */
  #publish(row: PublicationRow): void {
    if (this.publications.has(row.eventId)) throw new Error(`${row.event} ${row.eventId} is published twice`);
    const published = { ...row, seq: this.publications.size + 1 };
    this.publications.set(row.eventId, published);
    this.deliveries.deliverTo(published);
  }

  /** Neither set aside nor behind one of the same subject that is. */
  #due(): WaitingFact[] {
    const blocked = new Set<string>();
    return this.#inbox.filter(({ subject, againAtMs }) => {
      if (againAtMs > this.#machine.nowMs) blocked.add(subject);
      return !blocked.has(subject);
    });
  }

  #setAside(id: string): number | null {
    const fact = this.#inbox.find((waiting) => waiting.id === id);
    if (fact === undefined) return null;
    fact.tries += 1;
    fact.againAtMs = this.#machine.nowMs + SET_ASIDE_MS_FIRST * 2 ** fact.tries;
    return fact.tries;
  }

  #inboxOf(limit: number): Awaited<ReturnType<InboxStore['inboxOf']>> {
    const inbox = this.#due().slice(0, limit);
    const deposits = inbox.flatMap(({ fact }) => {
      const known =
        'deposit' in fact ? this.deposits.get(`${fact.deposit.txid}:${fact.deposit.outputIndex}`) : undefined;
      return known === undefined ? [] : [known];
    });
    const withdrawals = inbox.flatMap(({ fact }) => {
      const known = 'withdrawalId' in fact ? this.withdrawals.get(fact.withdrawalId) : undefined;
      return known === undefined ? [] : [known];
    });
    return {
      inbox,
      deposits: [...new Set(deposits)],
      withdrawals: [...new Set(withdrawals)],
      addresses: [...this.#seed.addresses],
      adoptions: [],
      ownTxids: [],
      checkout: NO_CHECKOUT,
    };
  }
}
