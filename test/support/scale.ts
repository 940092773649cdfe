/**
 * A large account, filled in SQL as the superuser without triggers: addresses, deposits with their facts and entries,
 * withdrawals, deliveries with their publications and attempts, and other accounts beside it. Deterministic.
 *
 * Values are skewed on purpose. Most rows carry one `userRef` and one `tag`; what is rare is also oldest, so that a
 * plan that reads newest first and filters on the way reads everything before it finds them.
 */
import type { AccountId } from '../../protocol/ids.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';

export interface ScaleCounts {
  readonly addresses: number;
  readonly deposits: number;
  readonly withdrawals: number;
  readonly deliveries: number;
  /** Of the account's stream, and entries of its organization's audit log. */
  readonly events?: number;
  readonly auditEntries?: number;
  /** Organizations beside it, each with one address. */
  readonly otherAccounts: number;
}

/** The endpoints of the account: nearly everything goes to `busy`. */
export const SCALE_WEBHOOKS = {
  busy: '00000000-0000-7000-8000-000000000001',
  rare: '00000000-0000-7000-8000-000000000002',
} as const;
export const SCALE_USERS = { most: 'whale', one: 'user-7', rare: 'old-user' } as const;
export const SCALE_TAGS = { most: 'hot', rare: 'old-tag' } as const;
/** Rows of each table that are rare in every filtered column. */
export const SCALE_RARE = 40;

const START = '2026-01-01T00:00:00Z';
/** Two fill side by side, each what nobody has begun: more only take each other's memory and the disk's turns. */
const SESSIONS = 2;

/** What is filled in one go, by one session, with the tables whose indexes rest meanwhile. */
interface Fill {
  readonly tables: readonly string[];
  readonly rows: (sql: Sql, accountId: AccountId, counts: ScaleCounts) => Promise<void>;
}

// No row of one is asked for by another's, and triggers are off. What takes longest is begun first.
const FILLS: readonly Fill[] = [
  { tables: ['deposit', 'ledger_entry', 'fact'], rows: fillDeposits },
  { tables: ['address', 'address_registry'], rows: fillAddresses },
  { tables: ['publication', 'delivery', 'attempt'], rows: fillDeliveries },
  { tables: ['withdrawal'], rows: fillWithdrawals },
  { tables: ['audit_entry'], rows: fillAuditLog },
  { tables: ['event'], rows: fillStream },
];

/** Fills an account that exists and has two endpoints of its own nowhere yet. Resolves when statistics are taken. */
export async function fillScale(superuserUrl: string, accountId: AccountId, counts: ScaleCounts): Promise<void> {
  const sessions = Array.from({ length: SESSIONS }, () =>
    openDatabase({
      url: superuserUrl,
      connections: 1,
      name: 'flock-fill',
      role: null,
      statementTimeoutMs: 0,
      settings: {
        session_replication_role: 'replica',
        synchronous_commit: 'off',
        maintenance_work_mem: '1GB',
        max_parallel_maintenance_workers: '0', // the other session has the other core
        work_mem: '256MB',
        lock_timeout: '0',
      },
    }),
  );
  const first = sessions[0]!;
  try {
    const resting = await restIndexes(first);
    await Promise.all(sessions.map(helpers));
    const fills = [...FILLS];
    const indexes: string[] = [];
    // The indexes of a table are built while its rows are still in memory, by whoever is free.
    await Promise.all(
      sessions.map(async (session) => {
        for (;;) {
          const index = indexes.shift();
          if (index !== undefined) {
            await session`reindex index ${session(index)}`;
            continue;
          }
          const fill = fills.shift();
          if (fill === undefined) return;
          await fill.rows(session, accountId, counts);
          for (const table of fill.tables) {
            // Once, instead of by the first who reads a page, and again by the vacuum of the end.
            await session`vacuum (freeze) ${session(table)}`;
            indexes.push(...resting.filter((one) => one.filled === table).map(({ name }) => name));
          }
        }
      }),
    );
    await countLists(first);
    await first`vacuum analyze`;
  } finally {
    await Promise.all(sessions.map((session) => session.end({ timeout: 5 })));
  }
}

/**
 * Indexes of what is filled, those of constraints too, take no rows until each is built once, after its table: written
 * row by row, random keys of 10 million rows are read from the disk and written to it again and again.
 */
async function restIndexes(sql: Sql): Promise<{ name: string; filled: string }[]> {
  return sql<{ name: string; filled: string }[]>`
    update pg_index i set indisready = false, indisvalid = false
      from pg_class t left join pg_inherits h on h.inhrelid = t.oid left join pg_class parent on parent.oid = h.inhparent, pg_class c
     where t.oid = i.indrelid and c.oid = i.indexrelid and t.relnamespace = 'flock'::regnamespace and t.relkind = 'r'
       and coalesce(parent.relname, t.relname) = any (${FILLS.flatMap(({ tables }) => tables)})
    returning c.relname as name, coalesce(parent.relname, t.relname) as filled`;
}

/** Session functions: what row `i` carries. Ids keep the order of `i`. */
async function helpers(sql: Sql): Promise<void> {
  await sql`
    create function pg_temp.id_of(prefix text, i bigint) returns text language sql immutable as $$
      select prefix || '_3' || translate(lpad(to_hex(i), 25, '0'), '0123456789abcdef', '234567abcdefghij') $$`;
  await sql`
    create function pg_temp.chain_of(i bigint) returns text language sql immutable as $$
      select case when i < 40 then 'xlm' when i % 10 = 1 then 'base' when i % 10 = 2 then 'btc' when i % 10 = 3 then 'tron' else 'eth' end $$`;
  await sql`
    create function pg_temp.user_of(i bigint) returns text language sql immutable as $$
      select case when i < 40 then 'old-user' when i % 4 = 0 then 'user-' || i % 5000 when i = 41 then 'user-7' else 'whale' end $$`;
  await sql`
    create function pg_temp.tag_of(i bigint) returns text language sql immutable as $$
      select case when i < 40 then 'old-tag' when i % 4 = 1 then null when i % 100 = 2 then 'tag-' || i % 1000 else 'hot' end $$`;
}

async function fillAddresses(sql: Sql, accountId: AccountId, { addresses, otherAccounts }: ScaleCounts): Promise<void> {
  await sql`
    insert into organization (id, name, created_at)
      select pg_temp.id_of('org', i), 'Other ' || i, ${START}::text::timestamptz from generate_series(1, ${otherAccounts}::bigint) i`;
  await sql`
    insert into account (account_id, organization_id, environment, shard_id, state)
      select pg_temp.id_of('org', i) || '_live', pg_temp.id_of('org', i), 'live', i % 1024, '{"counters":{},"activeAddresses":1}'
        from generate_series(1, ${otherAccounts}::bigint) i`;
  await sql`
    insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, user_ref,
                         tag, label, status, created_at)
      select ${accountId}, pg_temp.id_of('adr', i), 'live', c.chain, case when c.chain in ('eth', 'base') then 'evm' else c.chain end,
             'address-' || i, md5('key' || i)::uuid, 'm/0/' || i, 'deposit', i, pg_temp.user_of(i), pg_temp.tag_of(i), null,
             case when i < 40 or i % 50 = 0 then 'archived' else 'active' end, ${START}::text::timestamptz + i * interval '10 ms'
        from generate_series(0, ${addresses - 1}::bigint) i cross join lateral (select pg_temp.chain_of(i) as chain) c`;
  await sql`
    insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, status, created_at)
      select a.account_id, pg_temp.id_of('adr', 1e12::bigint + i), 'live', 'eth', 'evm', 'other-' || i, md5('other' || i)::uuid, 'm/0/0',
             'deposit', 0, 'active', ${START}::text::timestamptz
        from generate_series(1, ${otherAccounts}::bigint) i
        join account a on a.account_id = pg_temp.id_of('org', i) || '_live'`;
  await sql`
    insert into address_registry (address_key, account_id, address_id) select address_key, account_id, id from address`;
}

async function fillDeposits(sql: Sql, accountId: AccountId, { addresses, deposits }: ScaleCounts): Promise<void> {
  await sql`
    insert into deposit (account_id, id, ledger, chain, txid, output_index, address_id, address, amount, decimals, token_symbol, user_ref,
                         tag, status, incarnation, height, block_hash, threshold, created_at, updated_at)
      select ${accountId}, pg_temp.id_of('dep', i), c.chain, c.chain, 'tx-' || md5(i::text), 0, pg_temp.id_of('adr', i % ${addresses}::bigint),
             'address-' || i % ${addresses}::bigint, 1000000, 18, 'ETH', pg_temp.user_of(i), pg_temp.tag_of(i),
             case when i < 40 then 'reversed' when i >= ${deposits - 100}::bigint then 'detected' else 'confirmed' end,
             1, 1000 + i / 100, 'block-' || i / 100, 12, c.at, c.at
        from generate_series(0, ${deposits - 1}::bigint) i
       cross join lateral (select pg_temp.chain_of(i) as chain, ${START}::text::timestamptz + i * interval '10 ms' as at) c`;
  await sql`
    insert into ledger_entry (deposit_id, account_id, incarnation, kind, amount)
      select id, account_id, 1, 'detected', amount from deposit`;
  await sql`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select d.ledger, d.txid, 0, d.account_id, md5('key' || split_part(d.address, '-', 2))::uuid,
             case d.status when 'confirmed' then 'matured' when 'reversed' then 'orphaned' else 'seen' end, d.height, d.block_hash,
             jsonb_build_object('threshold', 12, 'from', jsonb_build_array('payer'), 'to', d.address, 'txid', d.txid, 'outputIndex', 0,
                                'amount', '1000000', 'tokenContract', null, 'height', d.height, 'blockHash', d.block_hash,
                                'addressId', d.address_id, 'ledger', d.ledger)
        from deposit d`;
}

async function fillWithdrawals(sql: Sql, accountId: AccountId, { addresses, withdrawals }: ScaleCounts): Promise<void> {
  await sql`
    insert into withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol, user_ref, tag, status,
                            unsigned, versions, txid, height, block_hash, fee, created_at, updated_at)
      select ${accountId}, pg_temp.id_of('txn', i), c.chain, c.chain, 'address-' || i % ${addresses}::bigint, 'payee-' || i, 1000, 18, 'ETH',
             pg_temp.user_of(i), pg_temp.tag_of(i), c.status, jsonb_build_object('tag', null, 'amount', '1000', 'feeMax', '21000', 'replayKey', jsonb_build_object('kind', 'nonce', 'value', i)), '[{"txid":"x"}]', 'out-' || md5(i::text),
             case when c.status = 'confirmed' then 1000 + i / 100 end, case when c.status = 'confirmed' then 'block-' || i / 100 end, 21000,
             c.at, c.at
        from generate_series(0, ${withdrawals - 1}::bigint) i
       cross join lateral (
         select pg_temp.chain_of(i) as chain, ${START}::text::timestamptz + i * interval '10 ms' as at,
                case when i < 40 then 'replaced' when i % 20 = 0 then 'failed' when i % 20 = 1 then 'expired' when i % 20 = 2 then 'built'
                     when i >= ${withdrawals - 50}::bigint then 'broadcast' else 'confirmed' end as status) c`;
}

async function fillDeliveries(sql: Sql, accountId: AccountId, { deliveries }: ScaleCounts): Promise<void> {
  await sql`
    insert into webhook (account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at)
      select ${accountId}, w, 'https://example.com/' || w, '{deposit_detected,deposit_confirmed}', '{sealed}', 'whsec_ab', 'enabled',
             ${START}::text::timestamptz, ${START}::text::timestamptz
        from unnest(${Object.values(SCALE_WEBHOOKS)}::text[]) w`;
  await sql`
    insert into publication (account_id, event_id, seq, event, body, order_key, to_all, created_at, completed_at) overriding system value
      select ${accountId}, pg_temp.id_of('evt', i), i + 1, case when i < 40 then 'pool_low' when i % 2 = 0 then 'deposit_detected' else 'deposit_confirmed' end,
             '{}', 'address-' || i % 1000, false, ${START}::text::timestamptz + i * interval '10 ms', ${START}::text::timestamptz + i * interval '10 ms'
        from generate_series(0, ${deliveries - 1}::bigint) i`;
  await sql`select setval('publication_seq_seq', ${deliveries + 1}::bigint)`;
  await sql`
    insert into delivery (id, account_id, event_id, webhook_id, event, replay, seq, order_key, status, attempts, next_attempt_at, created_at)
      select pg_temp.id_of('dlv', p.seq - 1), p.account_id, p.event_id, case when p.seq <= 40 then ${SCALE_WEBHOOKS.rare} else ${SCALE_WEBHOOKS.busy} end,
             p.event, 0, p.seq, p.order_key, c.status, case when c.status in ('pending', 'held') then 0 else 1 end,
             case when c.status in ('pending', 'failed') then p.created_at end, p.created_at
        from publication p cross join lateral (
          select case when p.seq <= 40 then 'held' when p.seq > ${deliveries - 500}::bigint then 'pending' when p.seq % 100 = 0 then 'dead_lettered'
                      when p.seq % 1000 = 1 then 'failed' else 'delivered' end as status) c`;
  await sql`
    insert into attempt (account_id, delivery_id, attempt, status_code, duration_ms, attempted_at)
      select account_id, id, 1, case status when 'delivered' then 200 else 500 end, 12, created_at from delivery where attempts > 0`;
}

/** The account's stream goes on where it is: mostly addresses, and what happened to withdrawals. */
async function fillStream(sql: Sql, accountId: AccountId, { events = 0 }: ScaleCounts): Promise<void> {
  await sql`
    insert into event (account_id, version, type, body, recorded_at)
      select ${accountId}, a.version + i, t.type, jsonb_build_object('type', t.type, 'id', pg_temp.id_of(t.prefix, i / 4), 'atMs', 1767225600000 + i * 10) || t.more,
             ${START}::text::timestamptz + i * interval '10 ms'
        from account a cross join generate_series(1, ${events}::bigint) i
       cross join lateral (
         select case when i % 8 = 0 then 'withdrawal_broadcast' else 'address_issued' end as type, case when i % 8 = 0 then 'txn' else 'adr' end as prefix,
                case when i % 8 = 0 then jsonb_build_object('txid', 'out-' || md5((i / 4)::text)) else jsonb_build_object('family', 'evm', 'chain', 'eth', 'index', i) end as more) t
       where a.account_id = ${accountId}`;
  await sql`
    update account set version = version + ${events}, state = jsonb_set(state, '{version}', to_jsonb(version + ${events}))
     where account_id = ${accountId}`;
}

/** Its hashes are no chain. */
async function fillAuditLog(sql: Sql, accountId: AccountId, { auditEntries = 0 }: ScaleCounts): Promise<void> {
  if (auditEntries === 0) return;
  const organizationId = accountId.replace(/_live$/, '');
  await sql`
    insert into audit_entry (organization_id, seq, hash, text)
      select ${organizationId}, h.seq + i, sha256('x'), jsonb_build_object('seq', h.seq + i, 'organization', ${organizationId}::text,
             'at', 1767225600000 + i * 10, 'action', case when i < 40 then 'member_removed' when i % 3 = 0 then 'login' else 'address_created' end,
             'outcome', case when i % 50 = 0 then 'refused' else 'done' end, 'target', 'key_' || i % 1000,
             'actor', jsonb_build_object('id', 'usr_' || i % 5))::text
        from (select coalesce((select seq from audit_head where organization_id = ${organizationId}), 0) as seq) h
       cross join generate_series(1, ${auditEntries}::bigint) i`;
  await sql`
    insert into audit_head (organization_id, seq, hash, at_ms, keeps_days)
      select ${organizationId}, ${auditEntries}, sha256('x'), 1767225600000 + ${auditEntries}::bigint * 10, null
    on conflict (organization_id) do update set seq = audit_head.seq + excluded.seq, hash = excluded.hash, at_ms = greatest(audit_head.at_ms, excluded.at_ms)`;
}

/** What the triggers would have counted. */
async function countLists(sql: Sql): Promise<void> {
  await sql`
    insert into list_count (account_id, list, part, rows)
      select account_id, 'address', 0, count(*) from address where purpose = 'deposit' group by 1
      union all select account_id, 'deposit', 0, count(*) from deposit group by 1
      union all select account_id, 'withdrawal', 0, count(*) from withdrawal group by 1
      union all select account_id, 'delivery', 0, count(*) from delivery group by 1
    on conflict (account_id, list, part) do update set rows = excluded.rows`;
}
