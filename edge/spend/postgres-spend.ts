/**
 * The shared spend ledger in a PostgreSQL database of the customer's. One function call counts a spend or refuses it:
 * it takes a row lock first and reads after it, so that two replicas that count at the same moment see each other. The
 * database's clock is read once, for a new scope; from then on time advances by the replicas' own clocks, so that
 * setting a clock frees no budget.
 */
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { withWholeRows } from '../../protocol/node/whole-rows.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { KEY_SET_REPLICAS_MAX } from '../../protocol/frames.ts';
import { refuseToSign } from '../signing/signers/signer.ts';
import { counterNotFilled, equalPayment, type Word } from '../signing/payments.ts';
import {
  capOf,
  overCap,
  overTokenCap,
  tokenCapOf,
  tokenSubject,
  tokenUnit,
  type Spend,
  type SpendCaps,
} from './caps.ts';
import { RETIRED_KEYS, type OpenPayment } from './ledger.ts';
import type { SpendClock } from './clock.ts';
import { KEY_SET_KEPT_MS, keySetOf, type SharedSpend, type SpendReplica } from './replica.ts';

const CONNECT_TIMEOUT_S = 5;
const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 8_000;
const IDLE_TIMEOUT_S = 60;
/**
 * As in the cloud's pool: with a first message of this size a broken connection is not mistaken for a good one.
 */
const LONG_STARTUP = { 'flock.padding': 'x'.repeat(1_024) };

const TABLES = fileURLToPath(new URL('./ledger.sql', import.meta.url));

type Sql = postgres.Sql;
interface Counted {
  readonly outcome:
    | 'counted'
    | 'over_cap'
    | 'over_token_cap'
    | 'other_key'
    | 'other_instruction'
    | 'other_payment'
    | 'equal_payment'
    | 'counter_not_filled';
  readonly spent: string;
  readonly earlier: readonly string[] | null;
}

export interface PostgresSpendSettings {
  readonly url: string;
  readonly scope: string;
  readonly caps: SpendCaps;
  readonly clock: Pick<SpendClock, 'nowMs'>;
  readonly replica: SpendReplica;
  /** After so long the connection is given up and nothing is signed. Milliseconds. */
  readonly answerTimeoutMs?: number;
}

/**
 * A ledger that connects, and creates its tables, on first use, and again after a connection did not answer.
 */
export function openPostgresSpend(settings: PostgresSpendSettings): SharedSpend {
  const { url, caps, answerTimeoutMs = ANSWER_TIMEOUT_MS } = settings;
  let current: Connection | null = null;
  const asked = async <T>(ask: (sql: Sql) => Promise<T>): Promise<T> => {
    const connection = (current ??= connect(url));
    try {
      return await within(
        connection.ready.then(() => ask(connection.sql)),
        answerTimeoutMs,
      );
    } catch (error) {
      // The other end may have gone silently: TCP would wait for minutes.
      drop(connection).catch(() => undefined);
      throw error;
    }
  };
  const drop = (connection: Connection) => {
    if (current === connection) current = null;
    return connection.sql.end({ timeout: 1 });
  };
  return {
    async count(spend) {
      try {
        const counted = await asked((sql) => count(sql, settings, spend));
        settings.replica.noteCounted();
        return refusalOf(counted, spend, caps);
      } catch (error) {
        return unasked(error); // It is unknown whether it was counted; counting the same spend again does no harm.
      }
    },
    async retire({ subject, transactionId, chain }) {
      try {
        return await asked(
          async (sql) =>
            (
              await sql<{ retired: boolean }[]>`
        select flock_retire_spend(${settings.scope}, ${subject}, ${transactionId}, ${chain}, ${JSON.stringify(RETIRED_KEYS)}::text::jsonb) as retired`
            )[0]!.retired,
        );
      } catch (error) {
        return unasked(error);
      }
    },
    note: (ids, word) =>
      asked(async (sql) => {
        const change = REPORTED_CHANGES[word];
        await sql`update flock_spend s set told = ${change.to} where s.scope = ${settings.scope} and ${among(sql, ids)} and ${JSON.stringify(change.from)}::text::jsonb ? s.told`;
      }),
    settle: (ids, how, versions = null) =>
      asked(async (sql) => {
        const only = versions === null ? sql`` : sql`and s.versions <@ ${JSON.stringify(versions)}::text::jsonb`;
        await sql`update flock_spend s set settled = ${how}
          where s.scope = ${settings.scope} and ${among(sql, ids)} and s.settled is null ${only}`;
      }),
    versionsOf: (id) =>
      asked(
        async (sql) =>
          (
            await sql<{ versions: string[] | null }[]>`
      select s.versions from flock_spend s where s.scope = ${settings.scope} and ${among(sql, [id])}`
          )[0]?.versions ?? null,
      ),
    open: (limit) =>
      asked(
        (sql) => sql<OpenPayment[]>`
      select s.transaction_id as "transactionId", s.chain, s.sender, s.told, s.counted_at_ms::float8 as "countedAtMs" from flock_spend s
       where s.scope = ${settings.scope} and s.settled is null and s.told <> 'confirmed' and s.payment is not null
       order by s.counted_at_ms, s.subject limit ${limit}`,
      ),
    keySets: (known) =>
      asked(async (sql) =>
        (
          await sql<{ record: string }[]>`
      select k.record from flock_key_set k where k.scope = ${settings.scope} and not exists (
          select from jsonb_to_recordset(${JSON.stringify(known)}::text::jsonb) n(replica text, version bigint) where n.replica = k.replica and n.version >= k.version)
       order by k.version desc limit ${KEY_SET_REPLICAS_MAX}`
        ).map(({ record }) => keySetOf(record)),
      ),
    putKeySet: (set) =>
      asked(async (sql) => {
        await sql`
        with gone as (delete from flock_key_set k where k.scope = ${settings.scope} and k.replica <> ${set.replica} and k.issued_at_ms < ${set.issuedAtMs - KEY_SET_KEPT_MS}::bigint)
        insert into flock_key_set as k (scope, replica, version, issued_at_ms, record) values (${settings.scope}, ${set.replica}, ${set.version}, ${set.issuedAtMs}, ${JSON.stringify(set)})
          on conflict (scope, replica) do update set version = excluded.version, issued_at_ms = excluded.issued_at_ms, record = excluded.record where k.version < excluded.version`;
      }),
    mark: () => undefined, // each count keeps it
    close: async () => {
      if (current !== null) await drop(current);
    },
  };
}

/** Exactly the expression of the index by transaction, so that no lookup grows with the ledger. */
const among = (sql: Sql, ids: readonly string[]) =>
  sql`coalesce(s.transaction_id, s.subject) = any(array(select jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb)))`;

interface Connection {
  readonly sql: Sql;
  readonly ready: Promise<void>;
}

function connect(url: string): Connection {
  const client = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: IDLE_TIMEOUT_S,
    onnotice: () => undefined,
    fetch_types: false,
    connection: {
      application_name: 'flock-edge',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      ...LONG_STARTUP,
    },
  });
  const sql = withWholeRows(client);
  return { sql, ready: sql.file(TABLES).then(() => undefined) };
}

/** `REPORTED` of ledger.ts for this table. */
const REPORTED_CHANGES: Readonly<Record<Word, { readonly to: string; readonly from: string[] }>> = {
  confirmed: { to: 'confirmed', from: ['nothing'] },
  failed: { to: 'failed', from: ['nothing', 'confirmed', 'doubted'] },
  reverted: { to: 'doubted', from: ['nothing', 'confirmed'] },
  landed: { to: 'doubted', from: ['failed'] },
};

async function count(
  sql: Sql,
  { scope, caps, clock, replica: { name, heirOf } }: PostgresSpendSettings,
  spend: Spend,
): Promise<Counted> {
  const {
    subject,
    transactionId = subject,
    chain,
    purpose,
    amount,
    exclusive = [],
    version = null,
    sender = '',
    payment = null,
    counter = null,
    deadAtMs = null,
    wallMs = 0,
    token = null,
  } = spend;
  const asked = {
    subject,
    transactionId,
    chain,
    purpose,
    amount: amount.toString(),
    exclusive,
    version,
    sender,
    payment,
    counter: counter?.toString() ?? null,
    deadAtMs,
    wallMs,
    cap: capOf(caps, spend)?.toString() ?? null,
    windowMs: caps.spendWindowMs,
    ...(token === null
      ? {}
      : {
          tokenSubject: tokenSubject(subject),
          tokenUnit: tokenUnit(chain, token),
          tokenAmount: token.amount.toString(),
          tokenCap: tokenCapOf(caps, chain, token)?.toString() ?? null,
        }),
  };
  const [row] = await sql<Counted[]>`
    select outcome, spent::text, earlier from flock_count_spend(${scope}, ${name}, ${heirOf}, ${clock.nowMs()}::bigint, ${JSON.stringify(asked)}::text::jsonb)`;
  return row!;
}

function unasked(error: unknown): Refusal {
  const { code } = error as { code?: unknown };
  return refuse(
    'SERVICE_UNAVAILABLE',
    {
      reason: 'spend_ledger',
      setting: 'EDGE_SPEND_LEDGER',
      cause: typeof code === 'string' ? code : 'no_answer',
      retryAfterSeconds: 5,
    },
    'the spend ledger cannot be asked; nothing was signed',
  );
}

function refusalOf({ outcome, spent, earlier }: Counted, spend: Spend, caps: SpendCaps): Refusal | null {
  switch (outcome) {
    case 'counted':
      return null;
    case 'other_key':
      return refuseToSign('signed_under_another_key');
    case 'other_instruction':
      return refuseToSign('another_instruction_under_this_id');
    case 'other_payment':
      return refuseToSign('payload_of_another_payment');
    case 'equal_payment':
      return equalPayment(earlier ?? []);
    case 'counter_not_filled':
      return counterNotFilled(earlier ?? []);
    case 'over_cap':
      return overCap(spend, caps, BigInt(spent));
    case 'over_token_cap':
      return overTokenCap(spend, spend.token!, caps, BigInt(spent));
  }
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
