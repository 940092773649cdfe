/**
 * The one reader of numbers, times and lists that the edge wrote itself. A limit, an expiry or a cap that is compared
 * with what is no number holds nothing, so what does not have its form is never used: the edge does not start on it,
 * and a record that is damaged later has the request refused. Both name the record. found F13, its kind.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { StorageFailed } from './failed.ts';

/** The last instant that a date has, in milliseconds. Source: ECMA-262, time values. */
const INSTANT_MS_MAX = 8_640_000_000_000_000;
/** Digits of the largest amount of any chain, 2^256 − 1. */
const AMOUNT_DIGITS_MAX = 78;
const SUM_DIGITS = 16;
/** Before the fields of a mark that has a sum. */
const SUMMED = 'v2';

const digits = (column: string): string =>
  `typeof(${column}) = 'text' and length(${column}) between 1 and ${AMOUNT_DIGITS_MAX} and ${column} not glob '*[^0-9]*'`;
const amount = (column: string): string => `(${digits(column)})`;
const instant = (column: string): string => `${column} between 0 and ${INSTANT_MS_MAX}`;
const count = (column: string): string => `${column} between 0 and ${Number.MAX_SAFE_INTEGER}`;
const counter = (column: string): string => `${column} >= 0`;
const flag = (column: string): string => `${column} in (0, 1)`;
const list = (column: string): string => `(json_valid(${column}) and json_type(${column}) = 'array')`;
const object = (column: string): string => `(json_valid(${column}) and json_type(${column}) = 'object')`;
const orNull =
  (form: (column: string) => string) =>
  (column: string): string =>
    `(${column} is null or ${form(column)})`;
/** An amount as `stored-text.ts` writes it. */
const amountIn = (column: string, field: string): string => `${column} ->> '$.${field}."$n"'`;
const instruction = (column: string): string =>
  `(${object(column)} and (${column} ->> '$.amount' = 'all' or ${amount(amountIn(column, 'amount'))}))`;
const unsigned = (column: string): string =>
  `(${object(column)} and ${amount(amountIn(column, 'amount'))} and ${amount(amountIn(column, 'feeMax'))})`;
const vouched = (column: string): string => `(${column} is null or ${column} = -1 or ${instant(column)})`;
const replayKey = (column: string): string =>
  `(${column} not glob 'nonce:*' and ${column} not glob 'sequence:*' or ${amount(`substr(${column}, instr(${column}, ':') + 1)`)})`;

/** Free text: names, hashes, bytes. It is compared for being equal, and a wrong one is equal to nothing. */
const text = null;

type Form = ((column: string) => string) | typeof text;

/** Every column of the tables but of `settings`: those are marks, below, or have readers that judge the whole text. */
export const COLUMN_FORMS: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  outbox: {
    seq: count,
    kind: text,
    subject: text,
    body: text, // one that cannot be read is refused when it leaves, and is an operator's to set aside
    tries: count,
    last_code: text,
    created_at_ms: instant,
    lane: text,
  },
  outbox_aside: {
    seq: count,
    kind: text,
    subject: text,
    body: text, // one that cannot be read is refused when it leaves, and is an operator's to set aside
    tries: count,
    last_code: text,
    created_at_ms: instant,
    set_aside_at_ms: instant,
    lane: text,
  },
  spend: {
    subject: text,
    chain: text,
    purpose: text,
    amount,
    counted_at_ms: instant,
    exclusive: orNull(list),
    transaction_id: text,
    sender: text,
    payment: text,
    counter: orNull(counter),
    dead_wall_ms: orNull(count),
    dead_ledger_ms: orNull(count),
    told: text,
    settled: text,
    versions: orNull(list),
  },
  spend_versions: { version: text, subject: text },
  instructions: {
    transaction_id: text,
    instruction,
    unsigned,
    recorded_at_ms: instant,
    shared: flag,
    broadcast_at_ms: orNull(instant),
    broadcast_unsigned: text,
    built_here: flag,
    handed_out: flag,
    elsewhere: list,
    amounts: orNull(list),
    superseded_by: text,
  },
  signatures: {
    transaction_id: text,
    payload: text,
    chain: text,
    signed_payload: text,
    txid: text,
    outcome: text,
    outcome_code: text,
    signed_at_ms: instant,
    amount: orNull(amount),
    sender: text,
    uses: orNull(list),
  },
  replay_keys: { chain: text, sender: text, replay_key: replayKey, transaction_id: text, payload: text },
  local_keys: {
    id: text,
    environment: text,
    hash: text,
    label: text,
    prefix: text,
    created_at_ms: instant,
    revoked_at_ms: orNull(instant),
    signature: text,
    shared: flag,
    minted_by: text,
    expires_at_ms: orNull(instant),
    minted_here: flag,
    may_vouch: flag,
    vouched_until_ms: vouched,
  },
  key_sets: {
    environment: text,
    replica: text,
    version: count,
    issued_at_ms: instant,
    digest: text,
    state: text,
    record: orNull(object),
    shared: flag,
    revoked: text,
  },
  request_keys: { request_key: text, body: text, transaction_id: text, bound_at_ms: instant },
  deposit_keys: { movement: text, output_index: count },
  commits: { n: count },
};

/** Reads every row once. Throws: StorageFailed, which names the table and its column. */
export function checkForms(database: DatabaseSync): void {
  for (const [table, columns] of Object.entries(COLUMN_FORMS)) {
    const forms = Object.entries(columns).flatMap(([column, form]) =>
      form === null ? [] : [{ column, sql: form(column) }],
    );
    if (forms.length === 0) continue;
    // A form that is unknown is one that does not hold.
    const cases = forms.map(({ column, sql }) => `when (${sql}) is not true then '${column}'`).join(' ');
    const wrong = database
      .prepare(`select wrong from (select case ${cases} end as wrong from ${table}) where wrong is not null limit 1`)
      .get() as { wrong: string } | undefined;
    if (wrong !== undefined) throw damaged(`${table}.${wrong.wrong}`);
  }
  if (database.prepare(UNKEPT_KEY).get() !== undefined) throw damaged('replay_keys.replay_key');
}

/** A coin or counter that a signature uses up, and that no longer says so: another payment could use it too. */
const UNKEPT_KEY = `select 1 from signatures s, json_each(s.uses) used where not exists (
  select 1 from replay_keys k where k.chain = s.chain and k.sender = s.sender and k.replay_key = used.value
    and k.transaction_id = s.transaction_id and k.payload = s.payload) limit 1`;

export const damaged = (record: string): StorageFailed => new StorageFailed('damaged', { record });

/** An amount in a row: digits and nothing else, or it is damaged. Throws: StorageFailed. */
export function keptAmount(kept: string, record: string): bigint {
  if (!/^[0-9]{1,78}$/.test(kept)) throw damaged(record);
  return BigInt(kept);
}

/** A JSON list of texts in a row. Throws: StorageFailed. */
export function keptList(kept: string, record: string): string[] {
  const parsed = keptJson(kept, record);
  if (!Array.isArray(parsed) || parsed.some((each) => typeof each !== 'string')) throw damaged(record);
  return parsed as string[];
}

/** JSON in a row. Throws: StorageFailed. */
export function keptJson(kept: string, record: string): unknown {
  try {
    return JSON.parse(kept) as unknown;
  } catch {
    throw damaged(record);
  }
}

/**
 * A mark is one line of fields under one name. The sum over the fields finds a mark that was cut: what is left of a
 * number is a number.
 */
export function markText(fields: readonly (string | number)[]): string {
  const line = [SUMMED, ...fields].join(' ');
  return `${line} ${sumOf(line)}`;
}

/**
 * The fields of a mark, `count` of them. One of an edge of before has no sum, and `former` is its form: then it is as
 * good as it reads. Throws: StorageFailed.
 */
export function markFields(mark: string, record: string, fields: number, former: RegExp): string[] {
  const parts = mark.split(' ');
  if (parts[0] !== SUMMED) {
    if (!former.test(mark)) throw damaged(record);
    return parts;
  }
  const line = parts.slice(0, -1).join(' ');
  if (parts.length !== fields + 2 || sumOf(line) !== parts.at(-1)) throw damaged(record);
  return parts.slice(1, -1);
}

/** A whole number of milliseconds, or a count, in a mark. Throws: StorageFailed. */
export function markNumber(field: string, record: string): number {
  const number = /^(?:0|[1-9][0-9]{0,15})$/.test(field) ? Number(field) : Number.NaN;
  if (!(number <= INSTANT_MS_MAX)) throw damaged(record);
  return number;
}

const sumOf = (line: string): string => createHash('sha256').update(line).digest('hex').slice(0, SUM_DIGITS);
