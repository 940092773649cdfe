/**
 * What stands beside the large account of scale.ts: other accounts' rows in every table that grows, filled in SQL as
 * the superuser without triggers. Deterministic; what a statement must not read is most of it.
 */
import type { AccountId } from '../../protocol/ids.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';

const START = '2026-01-01T00:00:00Z';
/** Payments of one link that wait for money. */
const OPEN_AT_ONCE = 1_500;

/** Accounts of scale.ts whose rows stand beside: `id_of('org', i)` for i from 1. */
export async function fillBeside(superuserUrl: string, live: AccountId, rows: number): Promise<void> {
  const sql = openDatabase({ url: superuserUrl, connections: 1, name: 'flock-fill', role: null });
  try {
    await sql`
      select set_config('statement_timeout', '0', false), set_config('session_replication_role', 'replica', false),
             set_config('search_path', 'flock', false), set_config('synchronous_commit', 'off', false)`;
    await sql`
      create function pg_temp.org(i bigint) returns text language sql immutable as $$
        select 'org_3' || translate(lpad(to_hex(i), 25, '0'), '0123456789abcdef', '234567abcdefghij') $$`;
    await fillPeople(sql, rows);
    await fillAuditLog(sql, live.replace(/_live$/, ''), rows);
    await fillEdges(sql, live, rows);
    await fillSandboxes(sql, rows);
    await fillWatched(sql, live, rows);
    await fillPayments(sql, live, rows);
    await fillInvoices(sql, live);
    await fillAdopted(sql, live, rows);
    await fillGaps(sql, live, rows);
    await sql`vacuum analyze`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** A shop with many links and payments, nearly all of them of one kind. */
async function fillPayments(sql: Sql, live: AccountId, rows: number): Promise<void> {
  await sql`
    create function pg_temp.named(prefix text, i bigint) returns text language sql immutable as $$
      select prefix || '_2' || translate(lpad(to_hex(i), 25, '0'), '0123456789abcdef', '234567abcdefghij') $$`;
  await sql`
    insert into pay_slug (slug, account_id, link_id)
      select 'shop-' || i, ${live}, pg_temp.named('lnk', i) from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into payment_link (account_id, id, version, slug, mode, address_mode, chain, asset, decimals, amount, closes_at,
        collect_email, metadata, status, closed_reason, closed_at, monitor_until, created_at, updated_at)
      select ${live}, pg_temp.named('lnk', i), 1, 'shop-' || i, case when i < 20 then 'donation' else 'fixed' end, 'per_payer',
             case when i % 500 = 0 then 'btc' else 'eth' end, 'ETH', 18, case when i < 20 then null else 1000 end,
             case when i % 50 = 0 then now() + i * interval '1 minute' end, false, '{}',
             case when i % 3 = 0 then 'active' else 'closed' end, case when i % 3 = 0 then null else 'paid' end,
             case when i % 3 = 0 then null else now() end, case when i % 3 = 0 then null else now() + i * interval '1 hour' end,
             now(), now()
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into payment (account_id, id, link_id, version, status, amount, due, seen, confirmed, late, address_id, address,
        derivation_path, address_reused, payer_key, expires_at, opened_at, updated_at)
      select ${live}, pg_temp.named('pay', i), pg_temp.named('lnk', 1 + i / 3), 1,
             case when i % 3 = 0 then 'confirmed' when i % 100 = 1 then 'awaiting_payment' else 'expired' end, 1000, 1000,
             case when i % 3 = 0 then 1000 else 0 end, case when i % 3 = 0 then 1000 else 0 end, 0, 'lent-' || i, 'lent-' || i,
             'm', false, 'payer-' || i % 7, now() + i * interval '1 minute', now(), now()
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into checkout_address (account_id, id, address_id, link_id, payment_id, reused, lent_at, released_at, paid_at)
      select ${live}, 'lent-' || i, 'lent-' || i, pg_temp.named('lnk', 1 + i / 3), pg_temp.named('pay', i), false, now(),
             case when i % 2 = 0 then now() end, case when i % 3 = 0 then now() end
        from generate_series(1, ${rows}::bigint) i`;
  // One link with many payments open, of many payers, each with a statement of the edge about its address.
  await sql`
    insert into payment (account_id, id, link_id, version, status, amount, due, seen, confirmed, late, address_id, address,
        derivation_path, address_reused, payer_key, client_key, customer_email, expires_at, opened_at, updated_at)
      select ${live}, pg_temp.named('pay', i), pg_temp.named('lnk', 3), 1, 'awaiting_payment', null, 1, 0, 0, 0, 'open-' || i,
             'open-' || i, 'm', false, 'open-' || i, 'client-' || i / 4, 'payer-' || i || '@example.com',
             now() + interval '1 year', now(), now()
        from generate_series(${rows}::bigint + 1, ${rows}::bigint + ${OPEN_AT_ONCE}) i`;
  await sql`
    insert into address_attestation (account_id, family, index, address, public_key, issued_at, valid_until, signature)
      select ${live}, 'evm', i, 'attested-' || i, repeat('a', 64), now(), now() + interval '30 days', 'signature'
        from generate_series(100000, 100000 + ${OPEN_AT_ONCE}::int) i`;
}

/** An invoice of each payment that is confirmed, with a link of its own. */
async function fillInvoices(sql: Sql, live: AccountId): Promise<void> {
  await sql`
    update payment set invoice_id = 'inv' || substr(id, 4), invoice_number = 'INV-2026-' || id where status = 'confirmed'`;
  await sql`
    insert into invoice (account_id, id, link_id, payment_id, year, number, issued_at, time_zone, chain, asset, decimals, address,
        amount, paid, overpaid, short, customer_email, transfers)
      select ${live}, invoice_id, link_id, id, 2026, row_number() over (order by id), now(), 'UTC', 'eth', 'ETH', 18, address,
             1000, 1000, 0, 0, 'x@example.com', '[]' from payment where invoice_id is not null`;
  await sql`
    insert into invoice_link (account_id, invoice_id, hash, letter_id, minted_at)
      select account_id, id, encode(sha256(id::bytea), 'hex'), id, now() from invoice`;
}

/** What the account brought from another wallet, of which no key is known; half of it was traced. */
async function fillAdopted(sql: Sql, live: AccountId, rows: number): Promise<void> {
  await sql`
    insert into import_batch (account_id, id, project_id, state, adopting, committed_at, created_at)
      select case when i = 1 then ${live} else pg_temp.org(i) || '_live' end, pg_temp.named('imp', i), pg_temp.named('mig', i),
             'committed', 1, now(), now() from generate_series(1, 2000) i`;
  await sql`
    insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, user_ref, status,
                         created_at, batch_id)
      select ${live}, pg_temp.named('adr', i), 'live', 'eth', 'evm', 'adopted-' || i, md5('adopted' || i)::uuid, '[]', 'deposit',
             'adopted-' || i % 100, 'active', ${START}::text::timestamptz, pg_temp.named('imp', 1)
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into address_registry (address_key, account_id, address_id)
      select address_key, account_id, id from address where batch_id is not null`;
  await sql`
    insert into address_origin (account_id, address_id, nth, key_source_id, path)
      select account_id, id, 1, 'ks_1', '[0123456789abcdef/0/0]' from address where batch_id is not null and id > pg_temp.named('adr', ${Math.floor(rows / 2)}::bigint)`;
}

/** What is left of pairs that have an address on some networks of theirs. */
async function fillGaps(sql: Sql, live: AccountId, rows: number): Promise<void> {
  await sql`
    insert into address_gap (account_id, user_ref, tag, chain, index)
      select case when i % 2 = 0 then ${live} else pg_temp.org(1 + i % 2000) || '_live' end, 'gap-' || i / 4, '',
             (array['bsc', 'polygon', 'avax', 'base'])[1 + i % 4], i
        from generate_series(1, ${rows}::bigint) i`;
}

async function fillPeople(sql: Sql, rows: number): Promise<void> {
  await sql`
    insert into console_user (id, email, password_hash, sealed_totp_secret)
      select 'usr_' || i, 'u' || i || '@example.com', 'x', 'sealed' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into membership (user_id, organization_id, role)
      select 'usr_' || i, pg_temp.org(1 + i % 2000), 'owner' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into api_key (id, account_id, organization_id, environment, label, hash, masked_prefix, created_at)
      select 'key_' || i, pg_temp.org(1 + i % 2000) || '_live', pg_temp.org(1 + i % 2000), 'live', 'x', md5(i::text), 'flk_', ${START}::text::timestamptz
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into refresh_token (family, hash, user_id, organization_id, expires_at)
      select 'family-' || i, 'hash-' || i, 'usr_' || i, pg_temp.org(1 + i % 2000), now() + interval '1 day' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into login (id, user_id, method, client, ip, created_at, seen_at, ends_at)
      select 'lgn_' || i, 'usr_' || i, 'password', '', '', now(), now(), now() + interval '1 day' from generate_series(1, ${rows}::bigint) i`;
  await sql`update refresh_token set login_id = 'lgn_' || substr(family, 8)`;
  await sql`
    insert into mail (account_id, event_id, user_id, kind, recipient, body, attempts, next_attempt_at, sent_at, created_at)
      select pg_temp.org(1 + i % 2000) || '_live', 'evt_' || i, 'usr_' || i, 'identity_rotation_detected', 'x@example.com', '{}', 1,
             case when i <= 50 then now() end, case when i > 50 then now() end, now() from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into letter (id, kind, recipient, facts, attempts, next_attempt_at, sent_at, created_at)
      select i::text, 'known', 'x@example.com', '{}', 1, case when i <= 50 then now() end, case when i > 50 then now() end, now()
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into invitation (id, organization_id, email, role, hash, invited_by, created_at, expires_at)
      select 'ivt_' || i, pg_temp.org(1 + i % 2000), 'guest' || i || '@example.com', 'viewer', encode(sha256(('ivt' || i)::bytea), 'hex'),
             'usr_' || i, now(), now() + interval '1 day' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into mail_token (hash, kind, subject, email, user_id, created_at, expires_at)
      select encode(sha256(i::text::bytea), 'hex'), 'reset', 'usr_' || i, 'u' || i || '@example.com', 'usr_' || i, now(), now() + interval '1 day'
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into webhook (account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at)
      select pg_temp.org(i) || '_live', 'hook-' || i, 'https://example.com/', '{deposit_detected}', '{sealed}', 'whsec_ab', 'enabled', now(), now()
        from generate_series(1, 2000) i`;
  await sql`update webhook set backlog = true, held_through = 1 where id in (select 'hook-' || i from generate_series(1, 50) i)`;
}

/** A log of many entries; its hashes are no chain. */
async function fillAuditLog(sql: Sql, organizationId: string, rows: number): Promise<void> {
  await sql`
    insert into audit_head (organization_id, seq, hash, at_ms, keeps_days) values (${organizationId}, ${rows}, sha256('x'), ${rows}, null)`;
  await sql`
    insert into audit_entry (organization_id, seq, hash, text)
      select ${organizationId}, i, sha256('x'), jsonb_build_object('seq', i, 'organization', ${organizationId}::text, 'at', i, 'action', 'login',
             'outcome', 'done', 'target', 'key_' || i % 9, 'actor', jsonb_build_object('id', 'usr_' || i % 5))::text
        from generate_series(1, ${rows}::bigint) i`;
}

async function fillEdges(sql: Sql, live: AccountId, rows: number): Promise<void> {
  await sql`
    insert into edge_session (id, account_id, role, edge_version, liveness, lease_epoch, outbox_mode, outbox_depth, outbox_poisoned,
                              last_heartbeat_at, started_at, ended_at)
      select 'ses_' || i, pg_temp.org(1 + i % 2000) || '_live', 'leader', '1', 'live', 1, 'normal', 0, false, now(), now(),
             case when i > 100 then now() end from generate_series(1, ${rows}::bigint) i`;
  await sql`insert into edge_nonce (key_id, nonce, expires_at) select 'k', i::text, now() + interval '11 minutes' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into edge_instruction (account_id, transaction_id, asked_at, record)
      select ${live}, 'txn_' || i, now(), '{}' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into local_key (account_id, id, environment, hash, label, prefix, created_at, signature)
      select pg_temp.org(1 + i % 2000) || '_live', 'ek_' || i, 'live', 'h', 'l', 'p', now(), 's' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into pool_address (account_id, chain, index, address, path, address_key)
      select ${live}, 'sol', i, 'pool-' || i, 'm', md5('pool' || i)::uuid from generate_series(0, ${rows - 1}::bigint) i`;
  await sql`
    insert into address_peak (account_id, day, active)
      select pg_temp.org(i) || '_live', '2026-01-01', 1 from generate_series(1, 2000) i`;
  // Most answers of a day stay when the oldest go.
  await sql`
    insert into idempotency (account_id, method, path, key, body_hash, status, body, created_at)
      select ${live}, 'POST', '/v1/addresses', i::text, 'h', 201, '{"id":"adr_x"}', now() - interval '25 hours' + i * interval '10 hours' / ${rows}::int
        from generate_series(0, ${rows - 1}::bigint) i`;
}

async function fillSandboxes(sql: Sql, rows: number): Promise<void> {
  await sql`
    insert into account (account_id, organization_id, environment, shard_id, state)
      select pg_temp.org(i) || '_sandbox', pg_temp.org(i), 'sandbox', i % 1024, '{"counters":{},"activeAddresses":0}' from generate_series(1, 2000) i`;
  await sql`
    insert into sandbox_ledger (ledger, height, hash) select 'eth@' || pg_temp.org(i) || '_sandbox', 1, 'h' from generate_series(1, 2000) i`;
  await sql`insert into chain_cursor (ledger, height, hash) select ledger, height, hash from sandbox_ledger`;
  await sql`
    insert into sandbox_block (ledger, height, hash, parent_hash, time, transactions)
      select 'eth@' || pg_temp.org(1) || '_sandbox', i, 'h' || i, 'h' || i - 1, now(),
             jsonb_build_array(jsonb_build_object('txid', 'x' || i, 'from', 'sender-' || i, 'transfers', jsonb_build_array(jsonb_build_object('to', 'payee-' || i % 3000))))
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into sandbox_transaction (ledger, txid, height, position, from_address, nonce)
      select ledger, 'x' || height, height, 0, 'sender', height from sandbox_block`;
  await sql`insert into sandbox_balance (ledger, address, token, amount) select ledger, 'payee-' || height, '', 1 from sandbox_block`;
  await sql`insert into sandbox_former (ledger, txid) select ledger, 'former-' || height from sandbox_block`;
  await sql`
    insert into sandbox_clock (account_id, ahead, looked_at)
      select pg_temp.org(i) || '_sandbox', interval '1 hour', now() + interval '1 day' from generate_series(1, 2000) i`;
  await sql`
    insert into registry_start (ledger, version, height)
      select 'eth@' || pg_temp.org(1 + i % 2000) || '_sandbox', 1 + i / 2000, i from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into sandbox_task (id, account_id, due_at, task)
      select 'task-' || i, pg_temp.org(1 + i % 2000) || '_sandbox', now() + interval '1 day', '{}' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into sandbox_pool (ledger, txid, from_address, nonce, spends, payload, transaction, since)
      select 'eth@' || pg_temp.org(1 + i % 2000) || '_sandbox', 'pool-' || i, 'from-' || i, i, '{}', '', '{}', now() from generate_series(1, 2000) i`;
}

async function fillWatched(sql: Sql, live: AccountId, rows: number): Promise<void> {
  // What an outage left: far more is due than one look takes.
  await sql`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select 'bsc', 'due-' || i, 0, ${live}, md5('due' || i)::uuid, 'seen', 1000 + i / 10, 'b' || i / 10,
             jsonb_build_object('threshold', 12, 'txid', 'due-' || i, 'outputIndex', 0)
        from generate_series(1, ${rows}::bigint) i`;
  // A transaction of a time when payments inside of contracts had other keys.
  await sql`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer, former_key)
      select 'eth', 'former', -1 - i, ${live}, md5('former' || i)::uuid, 'matured', 1000, 'b', jsonb_build_object('threshold', 12, 'addressId', 'adr_' || i, 'amount', '1'), true
        from generate_series(1, 5) i`;
  // One that an account cannot take, before the others of a busy address.
  await sql`
    insert into inbox (account_id, subject, fact_key, fact, created_at, retry_at, trouble, tries)
      select pg_temp.org(2000) || '_live', 'busy', 'k', '{"kind":"x"}', now() - interval '1 hour',
             case when i = 1 then now() + interval '1 hour' end, case when i = 1 then 'x' end, case when i = 1 then 1 else 0 end
        from generate_series(1, 300) i`;
  await sql`
    insert into inbox (account_id, subject, fact_key, fact, created_at, retry_at, trouble, tries)
      select pg_temp.org(1 + i % 2000) || '_live', 'subject-' || i, 'k', '{"kind":"x"}', now() - interval '1 hour',
             case when i % 100 = 0 then now() + interval '1 hour' end, case when i % 100 = 0 then 'x' end, case when i % 100 = 0 then 1 else 0 end
        from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into discrepancy (id, ledger, account_id, address_id, address, kind, amount, expected, found, height, evidence, recorded_at)
      select 'dis_' || i, 'tron', ${live}, 'adr_' || i, 'address-' || i, 'unattributed', 1, 0, 1, 1, '{}', now() - i * interval '1 second' from generate_series(1, ${rows}::bigint) i`;
  await sql`
    insert into block_link (ledger, height, hash, parent_hash, parent_height)
      select 'base', i, 'b' || i, 'b' || i - 1, i - 1 from generate_series(1, least(${rows}::bigint, 9000)) i`;
  await sql`insert into chain_cursor (ledger, height, hash) select 'base', least(${rows}::bigint, 9000), 'b' || least(${rows}::bigint, 9000)`;
  // Years of heights whose content no node of the chain could prove, and a reorganization whose facts wait for some.
  await sql`
    insert into block_link (ledger, height, hash, parent_hash, parent_height)
      select 'avax', i, 'v' || i, 'v' || i - 1, i - 1 from generate_series(1, ${rows}::bigint) i`;
  await sql`insert into unresolved_height (ledger, height, hash, reason, tries) select ledger, height, hash, 'unproven', 1 + height % 7 from block_link where ledger = 'avax'`;
  await sql`insert into block_link (ledger, height, hash, parent_hash, parent_height) values ('avax', 9999999, 'start', 'before', 9999998)`;
  await sql`insert into chain_cursor (ledger, height, hash) values ('avax', 9999999, 'start')`;
  await sql`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, was, height, block_hash, transfer, displaced_above, displaced_until)
      select 'avax', 'gone-' || i, 0, ${live}, md5('gone' || i)::uuid, 'displaced', 'seen', 1000, 'v1000',
             jsonb_build_object('threshold', 12, 'txid', 'gone-' || i, 'outputIndex', 0), 900, 2000
        from generate_series(1, ${rows}::bigint) i`;
  // Addresses of years ago that a look for young ones must not meet; bills of months that nobody asks for.
  await sql`
    insert into billable (account_id, withdrawal_id, kind, period)
      select account_id, id, 'withdrawal', '2026-01' from withdrawal where status = 'confirmed'`;
}
