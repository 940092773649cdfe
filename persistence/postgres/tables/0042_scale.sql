-- What read a table by its length. test/integration/persistence/plans.test.ts holds that nothing does.

-- The daily look for smaller bands that begin read the state of every account.
alter table account add column pending_band_at bigint generated always as ((state -> 'pendingBand' ->> 'atMs')::bigint) stored;
create index account_with_pending_band on account (account_id) where pending_band_at is not null;

-- Simulated ledgers whose head may not be the watchers' cursor: every look compared all of them.
alter table sandbox_ledger add column behind boolean not null default true;
create index sandbox_ledger_behind on sandbox_ledger (ledger) where behind;
create index withdrawal_open_simulated on withdrawal (ledger) where status in ('signing', 'broadcast') and ledger like '%@%\_sandbox';
-- Who was paid and who paid: an address's own movements were looked for in every block of its ledger.
create index sandbox_block_of_address on sandbox_block using gin (transactions jsonb_path_ops);

-- Sessions that are open, by account: a scrape of /metrics asks for them, and so does a node that starts.
create index edge_session_open on edge_session (account_id, started_at, id) where ended_at is null;
-- Operators page through what was set aside, oldest first; most of an inbox is not.
create index inbox_set_aside_by_id on inbox (id) where retry_at is not null;

-- audited_balances takes its place: it read the registry from its beginning for each page, and to its end for a rare family.
drop function ledger_balances(text, text, text, text, uuid, uuid[], bigint, int);
