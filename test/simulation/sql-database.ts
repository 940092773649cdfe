/**
 * The story's database as it is in production: the stores of persistence/postgres on a PostgreSQL of the test run, by
 * the story's true time. Statements take the time, and fail, as they do on the model (`database.ts`); one that is at
 * work holds the story until it is done, so that two of them never race. What is durable is read again after each that
 * writes.
 */
import type { AccountEvent, AccountState } from '../../model/account/capabilities.ts';
import { withdrawalOf, type Columns } from '../../persistence/postgres/row-shapes.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';
import { createStores } from '../../persistence/postgres/stores.ts';
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';
import type { Fact } from '../../model/rows/inbox.ts';
import type { PublicationRow } from '../../model/rows/webhook.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { RecordedAttempt } from '../../actors/webhook/recorder.ts';
import { initialAccount } from '../../model/account/state.ts';
import type { TestDatabase } from '../support/postgres.ts';
import type { CheckName } from './checks.ts';
import { statementOf, type Seed, type StoryDatabase, type Stores } from './database.ts';
import type { Delivery } from './deliveries.ts';
import { EPOCH_MS, type Machine, type Process } from './machine.ts';
import { Neighbour } from './neighbour.ts';
import { shardsOf } from './sql-schema.ts';

/** The longest that a story's ladder lets an attempt wait, and the longest claim. Milliseconds. */
const DUE_WITHIN_MS = 60_000;
const CLAIMED_WITHIN_MS = 120_000;

export interface SqlPrepared {
  readonly database: TestDatabase;
  readonly neighbour: AccountId;
  /** A planted bug: the publisher's clock decides what is due, as it once did. */
  readonly callersClock?: boolean;
}

type Published = Pick<PublicationRow, 'eventId' | 'event' | 'body'> & { seq: number };

interface Open {
  readonly sql: Sql;
  readonly stores: ReturnType<typeof createStores>;
  readonly ready: () => Promise<void>;
}

export class SqlDatabase implements StoryDatabase {
  faultRate = 0;
  isDown = false;
  ownerEpoch = 0;
  state: AccountState;
  events: AccountEvent[] = [];
  waitingFacts = 0;
  readonly deliveries = {
    rows: new Map<string, Delivery>(),
    attempts: new Map<string, number | null>(),
    onRecorded: (_attempt: RecordedAttempt): void => undefined,
  };
  readonly publications = new Map<string, Published>();
  readonly withdrawals = new Map<string, WithdrawalRow>();
  readonly seed: Seed;
  readonly neighbour: Neighbour;
  onFound: (check: CheckName, text: string) => void = () => undefined;
  readonly #machine: Machine;
  readonly #prepared: SqlPrepared;
  readonly #opened: Sql[] = [];
  #version: number;
  #published = 0;

  constructor(machine: Machine, seed: Seed, prepared: SqlPrepared) {
    this.#machine = machine;
    this.seed = seed;
    this.state = seed.state;
    this.#version = seed.state.version;
    this.#prepared = prepared;
    this.neighbour = new Neighbour(prepared.database, prepared.neighbour, (check, text) => this.onFound(check, text));
  }

  get #accountId(): AccountId {
    return this.seed.state.accountId;
  }

  addFact(fact: Fact): void {
    const entry = [{ accountId: this.#accountId, fact }];
    this.#machine.after(0, () =>
      this.#machine.outside(
        this.#owner(async (sql) => {
          await sql`select post_facts(${JSON.stringify(entry)}::text::jsonb)`;
          await this.#read();
        }),
      ),
    );
  }

  /** Somebody who may write as the application says an epoch that nobody granted. */
  intrude(): void {
    this.#machine.after(0, () =>
      this.#machine.outside(
        this.#prepared.database.sql`select * from activate_account(${this.#accountId}, 999999, '-infinity')`.then(() =>
          this.#read(),
        ),
      ),
    );
  }

  open(process: Process): Stores {
    const { sql, stores, ready } = this.#open(process),
      accountId = this.#accountId;
    const statement = <T>(work: () => Promise<T>, writes = true): Promise<T> =>
      statementOf(this.#machine, {
        faults: this,
        process,
        work: async () => {
          await ready();
          const told = this.#tellTime(sql); // before it on the same connection
          const answer = await work();
          await told;
          if (writes) await this.#read();
          return answer;
        },
      });
    const { accounts, deliveries, inbox, edge, read } = stores;
    return {
      accounts: {
        load: (id) => statement(() => accounts.load(id), false),
        append: (entry) => statement(() => this.neighbour.beside(stores, () => accounts.append(entry))),
      },
      deliveries: this.#deliveries(deliveries, statement),
      inbox: {
        inboxOf: (id, limit) => statement(() => inbox.inboxOf(id, limit), false),
        accountsWithInbox: (olderThanMs, limit) => statement(() => inbox.accountsWithInbox(olderThanMs, limit), false),
        setAside: (id, fact, trouble, pause) => statement(() => inbox.setAside(id, fact, trouble, pause), false),
        factsSetAside: (afterId, limit) => statement(() => inbox.factsSetAside(afterId, limit), false),
        countSetAside: () => statement(() => inbox.countSetAside(), false),
        retryFacts: (which) => statement(() => inbox.retryFacts(which), false),
      },
      sessions: {
        saveSessions: (rows) => statement(() => edge.saveSessions(rows), false),
        openSessions: () => statement(() => edge.openSessions(), false),
        saveLocalKeys: (id, records) => statement(() => edge.saveLocalKeys(id, records), false),
        localKeys: (id) => statement(() => edge.localKeys(id), false),
        keysToRevoke: (id) => statement(() => edge.keysToRevoke(id), false),
        saveKeySet: (id, set) => statement(() => edge.saveKeySet(id, set), false),
        keySets: (id) => statement(() => edge.keySets(id), false),
        saveInstructions: (id, records) => statement(() => edge.saveInstructions(id, records), false),
        instruction: (id, transactionId) => statement(() => edge.instruction(id, transactionId), false),
      },
      withdrawal: (id) => statement(() => read.withdrawal(accountId, id), false),
      usedValue: (from) => statement(() => read.usedValue(accountId, 'eth', from), false),
    };
  }

  /** Waits for nothing of its own: the machine has let every statement end. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((sql) => sql.end({ timeout: 5 })));
  }

  #deliveries(
    store: ReturnType<typeof createStores>['deliveries'],
    statement: <T>(work: () => Promise<T>, writes?: boolean) => Promise<T>,
  ): DeliveryStore {
    return {
      claimDue: (ids, limit, nowMs, claimMs, busy) =>
        statement(async () => {
          const claimed = await store.claimDue(ids, limit, nowMs, claimMs, busy);
          if (claimed.length > 0) await this.#read();
          return claimed;
        }, false),
      standing: (id, ids) => statement(() => store.standing(id, ids), false),
      recordAttempts: (attempts) =>
        statement(async () => {
          await store.recordAttempts(attempts);
          await this.#readAttempts(attempts);
        }),
      releaseClaims: (claims) => statement(() => store.releaseClaims(claims)),
      releaseAbandoned: (node, shards) => statement(() => store.releaseAbandoned(node, shards)),
      holdUnreadable: (claimed) => statement(() => store.holdUnreadable(claimed)),
      purge: () => statement(async () => 0, false),
      incompletePublications: () => statement(() => store.incompletePublications(), false),
    };
  }

  /**
   * The stores of one node; with its first statement it takes the shards and gives back what its predecessor had
   * claimed.
   */
  #open(process: Process): Open {
    const { database, callersClock = false } = this.#prepared;
    const sql = openDatabase({
      url: database.url,
      connections: 1,
      name: 'story',
      settings: { search_path: 'flock, pg_catalog' },
    });
    this.#opened.push(sql);
    let epochs = new Map<number, number>(),
      taken: Promise<void> | null = null;
    const shards = shardsOf(this.#accountId, this.#prepared.neighbour);
    const stores = createStores({
      sql,
      nowMs: () => process.host.wallMs(),
      epochOf: (shard) => epochs.get(shard),
      initialAccount,
      callersClock,
    });
    const take = async () => {
      await this.#tellTime(sql);
      await stores.maintain(this.#nowMs);
      epochs = await stores.ownership.claimShards('node', shards);
      await stores.deliveries.releaseAbandoned('node', shards);
      this.ownerEpoch = Math.max(...epochs.values());
    };
    return { sql, stores, ready: () => (taken ??= take()) };
  }

  get #nowMs(): number {
    return Math.floor(EPOCH_MS + this.#machine.nowMs);
  }

  async #tellTime(sql: Sql): Promise<void> {
    await sql`select set_config('story.now', ${new Date(this.#nowMs).toISOString()}, false)`;
  }

  /** As the owner of the schema, in story time. */
  async #owner<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const connection = await this.#prepared.database.admin.reserve();
    try {
      await connection`select set_config('search_path', 'flock, pg_catalog', false), set_config('story.now', ${new Date(this.#nowMs).toISOString()}, false)`;
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  async #readAttempts(attempts: readonly RecordedAttempt[]): Promise<void> {
    const ids = attempts.map(({ deliveryId }) => deliveryId);
    const rows = await this.#prepared.database.admin<{ key: string; statusCode: number | null }[]>`
      select delivery_id || '/' || attempt as key, status_code from attempt where delivery_id = any (${ids}::text[])`;
    const known = new Map(rows.map(({ key, statusCode }) => [key, statusCode]));
    for (const attempt of attempts) {
      const key = `${attempt.deliveryId}/${attempt.attempt}`;
      if (!known.has(key) || this.deliveries.attempts.has(key)) continue;
      this.deliveries.attempts.set(key, known.get(key)!);
      this.deliveries.onRecorded(attempt);
    }
  }

  /** Reads what is durable now, and looks at what only a database can break. */
  async #read(): Promise<void> {
    const { admin } = this.#prepared.database,
      accountId = this.#accountId;
    const [[account], publications, deliveries, withdrawals, [large]] = await Promise.all([
      admin<
        {
          state: AccountState;
          version: number;
          owner: number;
          granted: number;
          facts: number;
          events: AccountEvent[];
        }[]
      >`
        select a.state || account_in_flight(a.account_id, '-infinity') as state, a.version, a.owner_epoch as owner, s.epoch as granted, (select count(*) from inbox i where i.account_id = a.account_id) as facts,
               (select coalesce(jsonb_agg(e.body order by e.version), '[]') from event e where e.account_id = a.account_id and e.version > ${this.#version}) as events
          from account a join shard s on s.id = a.shard_id where a.account_id = ${accountId}`,
      admin<
        Columns[]
      >`select event_id, event, body, seq from publication where account_id = ${accountId} and seq > ${this.#published} order by seq`,
      admin<Columns[]>`select * from delivery where account_id = ${accountId} order by seq, id`,
      admin<Columns[]>`select * from withdrawal where account_id = ${accountId} order by id`,
      admin<{ rows: number | null }[]>`select max(rows) as rows from too_large`,
    ]);
    const { state, version, owner, granted, facts, events } = account!;
    Object.assign(this, { state, waitingFacts: facts });
    this.events.push(...events);
    this.#version = version;
    for (const row of publications) {
      this.publications.set(row.eventId as string, row as unknown as Published);
      this.#published = row.seq as number;
    }
    for (const row of deliveries) this.#delivery(row);
    for (const row of withdrawals) this.withdrawals.set(row.id as string, withdrawalOf(row));
    if (owner > granted)
      this.onFound('granted epoch', `the account is under epoch ${owner}, its shard under ${granted}`);
    if ((large?.rows ?? null) !== null)
      this.onFound('bounded statement', `one statement changed ${large!.rows} deliveries`);
  }

  #delivery(row: Columns): void {
    const { id, seq, nextAttemptAt, claimedUntil } = row as {
      id: string;
      seq: number;
      nextAttemptAt: number | null;
      claimedUntil: number | null;
    };
    this.deliveries.rows.set(id, {
      ...row,
      nextAttemptAtMs: nextAttemptAt,
      claimedUntilMs: claimedUntil ?? 0,
    } as unknown as Delivery);
    const waitsMs = (nextAttemptAt ?? 0) - this.#nowMs,
      claimedMs = (claimedUntil ?? 0) - this.#nowMs;
    if (waitsMs > DUE_WITHIN_MS) this.onFound('due in time', `event ${seq} waits ${waitsMs} ms for its next attempt`);
    if (nextAttemptAt !== null && claimedMs > CLAIMED_WITHIN_MS)
      this.onFound('due in time', `event ${seq} is claimed for ${claimedMs} ms`);
  }
}
