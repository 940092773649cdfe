/**
 * The shared spend ledger in a PostgreSQL database of the customer's. One function call counts a spend or refuses it: it
 * takes a row lock first and reads after it, so that two replicas that count at one moment see each other. The database's
 * clock is read once, for a scope that is new: from then on time passes as the replicas' own clocks say, so that a clock
 * that is set frees no budget.
 */
import postgres from 'postgres';
import { refuse, type Refusal } from '../protocol/errors.ts';
import { refuseToSign } from './signers/signer.ts';
import { capOf, overCap, type Spend, type SpendCaps } from './spend-ledger.ts';
import type { SpendClock } from './spend-clock.ts';
import type { SharedSpend, SpendReplica } from './shared-spend.ts';

const CONNECT_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 8_000;
const IDLE_TIMEOUT_S = 60;
/** As in the cloud's pool: a first message of this size keeps a connection that broke from being taken for a good one. */
const LONG_STARTUP = { 'flock.padding': 'x'.repeat(1_024) };

type Sql = postgres.Sql;
interface Counted { readonly outcome: 'counted' | 'over_cap' | 'other_key'; readonly spent: string }

export interface PostgresSpendSettings {
  readonly url: string;
  readonly scope: string;
  readonly caps: SpendCaps;
  readonly clock: Pick<SpendClock, 'nowMs'>;
  readonly replica: SpendReplica;
  /** After so long nothing is signed and the connection is given up. Milliseconds. */
  readonly answerTimeoutMs?: number;
}

/** A ledger that connects, and makes its tables, when it is first asked, and anew after a connection that did not answer. */
export function openPostgresSpend(settings: PostgresSpendSettings): SharedSpend {
  const { url, caps, answerTimeoutMs = ANSWER_TIMEOUT_MS } = settings;
  let current: Connection | null = null;
  const drop = (connection: Connection) => {
    if (current === connection) current = null;
    return connection.sql.end({ timeout: 1 });
  };
  return {
    async count(spend) {
      const connection = current ??= connect(url);
      try {
        const answer = connection.ready.then(() => ask(connection.sql, settings, spend));
        const counted = await within(answer, answerTimeoutMs);
        settings.replica.noteCounted();
        return refusalOf(counted, spend, caps);
      } catch (error) {
        // A connection whose other end is gone without a word would be waited on until TCP gives up.
        drop(connection).catch(() => undefined);
        // Counted or not: it is not known, and the same spend may be counted again without harm.
        const { code } = error as { code?: unknown };
        return refuse('SERVICE_UNAVAILABLE', {
          reason: 'spend_ledger', setting: 'EDGE_SPEND_LEDGER', cause: typeof code === 'string' ? code : 'no_answer', retryAfterSeconds: 5,
        }, 'the spend ledger cannot be asked; nothing was signed');
      }
    },
    mark: () => undefined, // each count keeps it
    close: async () => {
      if (current !== null) await drop(current);
    },
  };
}

interface Connection { readonly sql: Sql; readonly ready: Promise<void> }

function connect(url: string): Connection {
  const sql = postgres(url, {
    max: 1, connect_timeout: CONNECT_TIMEOUT_S, idle_timeout: IDLE_TIMEOUT_S, onnotice: () => undefined, fetch_types: false,
    connection: { application_name: 'flock-edge', statement_timeout: STATEMENT_TIMEOUT_MS, lock_timeout: LOCK_TIMEOUT_MS, ...LONG_STARTUP },
  });
  return { sql, ready: createTables(sql) };
}

async function ask(sql: Sql, { scope, caps, clock, replica: { name, heirOf } }: PostgresSpendSettings, spend: Spend): Promise<Counted> {
  const { subject, chain, purpose, amount, exclusive = [] } = spend;
  const [row] = await sql<Counted[]>`
    select outcome, spent::text from flock_count_spend(${scope}, ${name}, ${heirOf}, ${clock.nowMs()}::bigint, ${subject}, ${chain}, ${purpose}, ${amount.toString()}::text::numeric,
      ${capOf(caps, spend)?.toString() ?? null}::text::numeric, ${caps.spendWindowMs}::bigint, ${JSON.stringify(exclusive)}::text::jsonb)`;
  return row!;
}

function refusalOf({ outcome, spent }: Counted, spend: Spend, caps: SpendCaps): Refusal | null {
  if (outcome === 'counted') return null;
  return outcome === 'other_key' ? refuseToSign('signed_under_another_key') : overCap(spend, caps, BigInt(spent));
}

/**
 * One statement, under a lock, so that replicas that start together make the tables once. A newer edge replaces the
 * function of an older one, and an older edge leaves a newer one's.
 */
async function createTables(sql: Sql): Promise<void> {
  await sql`
    do $ddl$
    begin
      perform pg_advisory_xact_lock(7305820);
      if coalesce(obj_description(to_regprocedure('flock_count_spend(text, text, text, bigint, text, text, text, numeric, numeric, bigint, jsonb)'), 'pg_proc'), '0')::int
           >= 1 then
        return;
      end if;
      create table if not exists flock_spend (
        scope         text           not null,
        subject       text           not null,
        chain         text           not null,
        purpose       text           not null,
        amount        numeric(78, 0) not null check (amount >= 0),
        exclusive     jsonb          not null,
        counted_at_ms bigint         not null,
        primary key (scope, subject)
      );
      create index if not exists flock_spend_window on flock_spend (scope, chain, purpose, counted_at_ms);
      -- The time of a scope. It goes on by what each replica's own clock says has passed since that replica's last count.
      create table if not exists flock_spend_clock (scope text primary key, at_ms bigint not null);
      create table if not exists flock_spend_replica (
        scope text not null, replica text not null, own_ms bigint not null, at_ms bigint not null, primary key (scope, replica));
      create or replace function flock_count_spend(
        of_scope text, of_replica text, heir_of text, own_now_ms bigint, of_subject text, of_chain text, of_purpose text, of_amount numeric, cap numeric,
        window_ms bigint, keys jsonb
      ) returns table (outcome text, spent numeric) language plpgsql as $fn$
      declare
        known   flock_spend%rowtype;
        now_ms  bigint;
        so_far  numeric;
        dearest numeric;
      begin
        insert into flock_spend_clock values (of_scope, floor(extract(epoch from clock_timestamp()) * 1000)) on conflict do nothing;
        select c.at_ms into now_ms from flock_spend_clock c where c.scope = of_scope for update;
        -- From here on each statement sees what was committed before. Of the processes on copies of a directory one is the heir.
        if not exists (select from flock_spend_replica r where r.scope = of_scope and r.replica = of_replica) then
          update flock_spend_replica r set replica = of_replica where r.scope = of_scope and r.replica = heir_of;
        end if;
        now_ms := greatest(now_ms, coalesce(
          (select r.at_ms + (own_now_ms - r.own_ms) from flock_spend_replica r where r.scope = of_scope and r.replica = of_replica), 0));
        update flock_spend_clock c set at_ms = now_ms where c.scope = of_scope;
        insert into flock_spend_replica values (of_scope, of_replica, own_now_ms, now_ms)
          on conflict (scope, replica) do update set own_ms = excluded.own_ms, at_ms = excluded.at_ms;
        delete from flock_spend_replica r where r.scope = of_scope and r.at_ms < now_ms - 10 * window_ms;
        select * into known from flock_spend s where s.scope = of_scope and s.subject = of_subject;
        if found and not exists (select from jsonb_array_elements_text(known.exclusive) k where keys ? k) then
          return query select 'other_key', 0::numeric;
          return;
        end if;
        -- What was counted long ago and is signed only now is spent now.
        dearest := greatest(of_amount, known.amount);
        select coalesce(sum(s.amount), 0) into so_far from flock_spend s
         where s.scope = of_scope and s.chain = of_chain and s.purpose = of_purpose and s.subject <> of_subject
           and s.counted_at_ms > now_ms - window_ms;
        if so_far + dearest > cap then
          return query select 'over_cap', so_far;
          return;
        end if;
        insert into flock_spend values (of_scope, of_subject, of_chain, of_purpose, dearest, keys, now_ms)
          -- Every version shares what is kept, so that any two of them exclude each other.
          on conflict (scope, subject) do update set amount = excluded.amount, counted_at_ms = excluded.counted_at_ms,
            exclusive = (select jsonb_agg(k) from jsonb_array_elements_text(known.exclusive) k where keys ? k);
        return query select 'counted', so_far + dearest;
      end $fn$;
      -- The version of this text: raise both numbers with each change.
      comment on function flock_count_spend is '1';
    end $ddl$`;
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
