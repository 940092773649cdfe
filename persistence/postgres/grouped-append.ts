/**
 * The node's group committer. Appends of all entities that arrive while a statement is on its way share the next one:
 *
 *   waiting ──take up to a limit, one per entity──▶ in flight ──answered──▶ each entry gets its own outcome
 *   in flight ──an entry's account is locked by somebody──▶ that entry waits for it apart, the others are written
 *   in flight ──the server refused the statement──▶ its entries once more, apart, so that a bad or slow one is alone
 *   in flight ──the connection broke, the disk is full──▶ unknown: every entry rejects, its entity reads its state
 * again
 *
 * Nothing waits for a timer: an append on an idle node leaves at once, a busy node batches by itself.
 */
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { APPEND_REFUSED, AppendOutcome } from '../../model/entity.ts';
import { PAIRS_CHANGED, PAYMENTS_MOVED, refuse, type Refusal } from '../../protocol/errors.ts';
import { encodeEntry, joinEntries, type AccountAppend, type EncodedEntry } from './batch.ts';
import { awayOf, isAway } from './away.ts';
import { constraintOf, sqlstateOf, type Sql } from './sql.ts';

export interface GroupedAppendOptions {
  readonly sql: Sql;
  readonly nowMs: () => number;
  /** Called with the number of entries of each statement, for the metric of the batch size. */
  readonly onBatch?: (entries: number) => void;
  /** Most entries of one statement. */
  readonly entriesMax?: number;
  /** Statements at once; while one commits, the next is being encoded and planned. */
  readonly inFlightMax?: number;
}

/** The database refused the rows of an entry: a broken invariant. Nothing of the entry was written. */
export class AppendRefused extends Error {
  readonly code: typeof APPEND_REFUSED = 'append_refused';
  readonly sqlstate: string;
  /** Name of the violated constraint, e.g. `address_registry_key`. */
  readonly constraint: string | null;
  constructor(sqlstate: string, constraint: string | null, cause: unknown) {
    super(`append refused: ${sqlstate}${constraint === null ? '' : ` ${constraint}`}`, { cause });
    this.name = 'AppendRefused';
    this.sqlstate = sqlstate;
    this.constraint = constraint;
  }
}

/** Constraints that say an expected "no" which an account's own state cannot know. */
const REFUSALS: Readonly<Record<string, () => Refusal>> = {
  address_registry_key: () => refuse('ADDRESS_CONFLICT'), // I9
  pinned_identity_once: () => refuse('CROSS_ENVIRONMENT_IDENTITY'), // I20
  address_pairs: () => refuse('SERVICE_UNAVAILABLE', { reason: PAIRS_CHANGED, retryAfterSeconds: 1 }),
  payment_rows_moved: () => refuse('SERVICE_UNAVAILABLE', { reason: PAYMENTS_MOVED, retryAfterSeconds: 1 }),
  // An address is lent to one at a time; who came second reads again. payments M3.
  checkout_address_lent_once: () => refuse('SERVICE_UNAVAILABLE', { reason: PAYMENTS_MOVED, retryAfterSeconds: 1 }),
  // Sweeps and builds of one address are read before they are decided: who came second reads again. treasury S17, S21.
  sweep_rows_moved: () => refuse('CONFLICT', { reason: 'changed_meanwhile' }),
  sweep_job_open_once: () => refuse('CONFLICT', { reason: 'changed_meanwhile' }),
  sweep_operation_open_once: () => refuse('CONFLICT', { reason: 'changed_meanwhile' }),
  bridge_rows_moved: () => refuse('CONFLICT', { reason: 'changed_meanwhile' }),
  bridge_spending_once: () => refuse('CONFLICT', { reason: 'changed_meanwhile' }),
  import_state: () => refuse('IMPORT_NOT_READY', { reason: 'the batch or its project moved' }),
  import_rollback_closed: () => refuse('ROLLBACK_WINDOW_CLOSED', { reason: 'transaction' }), // M-R1
  pay_slug_once: () => refuse('CONFLICT', { field: 'slug', reason: 'taken' }),
  // The same of what the account's own state cannot know. Console A48.
  sandbox_reset_waits: () => refuse('SERVICE_UNAVAILABLE', { reason: 'sandbox_reset', retryAfterSeconds: 1 }),
  wipe_waits: () =>
    refuse('CONFLICT', { reason: 'work_under_way', next: 'wait for imports, sweeps and bridge transfers to end' }),
  address_wiped: () => refuse('CONFLICT', { reason: 'wiped' }),
  address_status_changes: () => refuse('CONFLICT', { reason: 'the address has that status already' }),
  delivery_replays_delivery: () => refuse('NOT_FOUND', { reason: 'the delivery or its endpoint is gone' }),
};

interface Waiting {
  readonly entityId: string;
  readonly entry: EncodedEntry;
  readonly bytes: number;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
}

const ENTRIES_MAX = 256;
const IN_FLIGHT_MAX = 2;
const STATEMENT_BYTES_MAX = 4 * 1_024 * 1_024;
/** Deadlocks and lost races with another node go away by themselves. */
const TRIES_ALONE = 3;
/** Entries that run apart at once, beside the groups: those that wait for a lock take no place of the others. */
const APART_MAX = 4;
/** How long a statement waits for a lock: a group hardly, since its other entries wait with it. Milliseconds. */
const LOCK_SHORT_MS = 250;
const LOCK_LONG_MS = 3_000;

/**
 * SQLSTATEs after which the statement certainly wrote nothing and its entries may do better apart; 57014 took too long.
 */
const APART = /^(22|23|40|55)|^57014$/;
const LOCKED = /^55/;
const TRANSIENT = /^(40|55)/;
const BROKEN = /^(22|23)/;
/** SQLSTATE of an invalid value. */
const DATA_EXCEPTION = '22000';

type Written = AppendOutcome | { readonly kind: 'busy' };

function outcomeOf(text: string | undefined): Written {
  if (text === 'busy') return { kind: text };
  if (text === 'appended' || text === 'stale' || text === 'duplicate') return { kind: text };
  throw new Error(`append_accounts answered ${text}`);
}

export type AppendEntry = (entry: AccountAppend) => Promise<AppendOutcome>;

/** Throws: AppendRefused for a value that no column can hold. */
function encoded(append: AccountAppend, nowMs: number): EncodedEntry | null {
  try {
    return encodeEntry(append, nowMs);
  } catch (error) {
    throw new AppendRefused(DATA_EXCEPTION, null, error);
  }
}

/** The `append` of every entity of a node. Rejects: AppendRefused; anything else means that the outcome is unknown. */
export function groupedAppend(options: GroupedAppendOptions): AppendEntry {
  const { sql, nowMs, onBatch, entriesMax = ENTRIES_MAX, inFlightMax = IN_FLIGHT_MAX } = options;
  let waiting: Waiting[] = [];
  let scheduled = false;
  let inFlight = 0;
  const busy = new Set<string>();
  const apart: { one: Waiting; lockMs: number }[] = [];
  let apartInFlight = 0;

  /** Takes entries in their order, at most one per entity, none of an entity that is in flight. */
  function take(): Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    let bytes = 0;
    for (const one of waiting) {
      const fits = taken.length < entriesMax && (taken.length === 0 || bytes + one.bytes <= STATEMENT_BYTES_MAX);
      if (!fits || busy.has(one.entityId)) {
        left.push(one);
        continue;
      }
      busy.add(one.entityId);
      bytes += one.bytes;
      taken.push(one);
    }
    waiting = left;
    return taken;
  }

  function pump(): void {
    scheduled = false;
    while (inFlight < inFlightMax && waiting.length > 0) {
      const group = take();
      if (group.length === 0) return; // all that waits is of entities in flight
      inFlight += 1;
      void commit(group).finally(() => {
        inFlight -= 1;
        pump();
      });
    }
  }

  function ended({ entityId }: Waiting): void {
    busy.delete(entityId);
  }

  async function statement(group: readonly Waiting[], lockMs: number): Promise<string[]> {
    onBatch?.(group.length);
    failpoint('append.before');
    const batch = joinEntries(group.map(({ entry }) => entry));
    const [row] = await sql<{ outcomes: string[] }[]>`
      select append_accounts(${batch}::text::jsonb) as outcomes
        from (select set_config('lock_timeout', ${String(lockMs)}, true) offset 0) patience`;
    failpoint('append.after');
    return row!.outcomes;
  }

  function settle(one: Waiting, outcome: Written): void {
    if (outcome.kind === 'busy') return runApart(one, LOCK_LONG_MS);
    ended(one);
    one.resolve(outcome);
  }

  function fail(one: Waiting, error: unknown): void {
    ended(one);
    one.reject(isAway(error) ? awayOf(error) : error);
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await statement(group, LOCK_SHORT_MS);
      group.forEach((one, index) => settle(one, outcomeOf(outcomes[index])));
    } catch (error) {
      const sqlstate = sqlstateOf(error);
      const apart = sqlstate !== null && APART.test(sqlstate);
      for (const one of group)
        if (apart) runApart(one, LOCK_SHORT_MS);
        else fail(one, error);
    }
  }

  function runApart(one: Waiting, lockMs: number): void {
    apart.push({ one, lockMs });
    pumpApart();
  }

  function pumpApart(): void {
    while (apartInFlight < APART_MAX && apart.length > 0) {
      // Those who hardly wait go first.
      const at = Math.max(
        0,
        apart.findIndex(({ lockMs }) => lockMs === LOCK_SHORT_MS),
      );
      const [{ one, lockMs }] = apart.splice(at, 1) as [{ one: Waiting; lockMs: number }];
      apartInFlight += 1;
      void commitAlone(one, lockMs).finally(() => {
        apartInFlight -= 1;
        pumpApart();
        pump(); // what waits of its entity
      });
    }
  }

  async function commitAlone(one: Waiting, lockMs: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const [outcome] = await statement([one], lockMs);
        return settle(one, outcomeOf(outcome));
      } catch (error) {
        const sqlstate = sqlstateOf(error);
        if (sqlstate !== null && LOCKED.test(sqlstate) && lockMs === LOCK_SHORT_MS) return runApart(one, LOCK_LONG_MS);
        if (sqlstate !== null && TRANSIENT.test(sqlstate) && attempt < TRIES_ALONE) continue;
        if (sqlstate === null || !BROKEN.test(sqlstate)) return fail(one, error);
        ended(one);
        const constraint = constraintOf(error);
        const refusal = constraint === null ? undefined : REFUSALS[constraint]?.();
        return refusal === undefined
          ? one.reject(new AppendRefused(sqlstate, constraint, error))
          : one.resolve({ kind: 'refused', refusal });
      }
    }
  }

  return (append) =>
    new Promise((resolve, reject) => {
      const entry = encoded(append, nowMs()); // throws into the promise: only this entry is rejected
      if (entry === null) return resolve({ kind: 'duplicate' });
      let bytes = 0;
      for (const rows of entry.values()) for (const row of rows) bytes += row.length;
      waiting.push({ entityId: append.entityId, entry, bytes, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      // After the current turn, so that all entities that decided in it share the statement.
      setImmediate(pump);
    });
}
