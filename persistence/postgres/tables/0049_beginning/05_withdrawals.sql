-- Withdrawals with every signed version, and what is billed. Both are written by append_money.

-- One row per withdrawal. `unsigned` is its newest build, `versions` all that was signed of it.
--   built ──signed──▶ signing ──submitted──▶ broadcast ──in a block──▶ confirming ──threshold──▶ confirmed
--   built ──nobody signed it in time──▶ expired      confirming, confirmed ──reorg──▶ broadcast
--   any but confirmed ──the chain refuses it, or proof that it cannot land──▶ failed
create table withdrawal (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  -- A sweep is never billed (I24); the kind goes into the foreign key of what is billed.
  kind           text   not null default 'withdrawal'
    constraint withdrawal_kind check (kind in ('withdrawal', 'sweep')),
  ledger         text collate "C" not null,
  chain          text   not null,
  from_address   text collate "C" not null,
  to_address     text collate "C" not null,
  amount         amount not null constraint withdrawal_amount_not_negative check (amount >= 0),
  decimals       int    not null constraint withdrawal_decimals_range check (decimals between 0 and 77),
  token_contract text,
  token_symbol   text   not null,
  user_ref       text,
  tag            text,
  status         text   not null constraint withdrawal_status check (status in
                   ('built', 'signing', 'broadcast', 'confirming', 'confirmed', 'failed', 'replaced', 'expired')),
  unsigned       jsonb  not null,
  versions       jsonb  not null,
  txid           text collate "C",
  height         bigint,
  block_hash     text,
  fee            amount constraint withdrawal_fee_not_negative check (fee >= 0),
  failure        jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- G25: signed bytes are durable before the first submit.
  constraint withdrawal_signed_before_submit check (
    status not in ('broadcast', 'confirming', 'confirmed') or jsonb_array_length(versions) > 0)
);
create index withdrawal_newest on withdrawal (account_id, created_at, id); -- the list without a filter
-- What is under way on a ledger (until 0091), and settled_in_sight: what is settled in the reorg window.
create index withdrawal_open on withdrawal (ledger, created_at)
  where status in ('signing', 'broadcast', 'confirming');
create index withdrawal_settled on withdrawal (ledger, height)
  where status in ('confirmed', 'failed') and height is not null;
create index withdrawal_by_sender on withdrawal (from_address, ledger) where height is not null; -- until 0089
alter table withdrawal add constraint withdrawal_with_kind unique (account_id, id, kind); -- billable_of_withdrawal
alter table withdrawal add primary key (account_id, id);
-- The highest counter value that a sender's transactions used in blocks: one step of an index, however many there are
-- (G15; read-store.ts, counter_gaps).
create index withdrawal_used_value on withdrawal
    (account_id, ledger, from_address, ((unsigned -> 'replayKey' ->> 'value')::numeric))
 where height is not null and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence');
-- The list of withdrawals by its filters; see the list of addresses.
create index withdrawal_by_kind on withdrawal (account_id, chain, status, created_at, id) where chain is not null;
create index withdrawal_by_user on withdrawal (account_id, user_ref, chain, status, created_at, id)
  where user_ref is not null;
create index withdrawal_by_tag on withdrawal (account_id, tag, chain, status, created_at, id) where tag is not null;
create index withdrawal_by_user_tag on withdrawal (account_id, user_ref, tag, chain, status, created_at, id)
  where user_ref is not null and tag is not null;
alter table withdrawal alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);
-- account_in_flight: what an account has on its way, and its young builds.
create index withdrawal_in_flight on withdrawal (account_id) where status in ('signing', 'broadcast', 'confirming');
create index withdrawal_builds on withdrawal (account_id, updated_at) where status = 'built';
-- dead_builds: builds that nobody signed, by the instant at which they expire.
create index withdrawal_unsigned on withdrawal (updated_at, account_id, id) where status = 'built';
-- V39: of two signed withdrawals of a sender with one counter value at most one can land: the second is never stored.
-- Versions of one withdrawal share the value and are one row. One that is in a block is left out: it was given up, its
-- value was given again, and it landed all the same.
create unique index withdrawal_counter_once on withdrawal
    (account_id, ledger, from_address, ((unsigned -> 'replayKey' ->> 'value')::numeric))
 where status in ('signing', 'broadcast') and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence');
-- sandbox_behind: simulated ledgers with something to mine.
create index withdrawal_open_simulated on withdrawal (ledger)
  where status in ('signing', 'broadcast') and ledger like '%@%\_sandbox';

create trigger withdrawal_append_only before delete on withdrawal
  for each row execute function append_only('withdrawal');
create trigger withdrawal_not_truncated before truncate on withdrawal
  for each statement execute function append_only('withdrawal');
-- What a withdrawal is stays; its status, fee, versions and (send-all) amount move.
create trigger withdrawal_immutable before update on withdrawal for each row
  when ((new.account_id, new.id, new.kind, new.ledger, new.chain, new.from_address, new.to_address, new.token_contract,
         new.created_at)
        is distinct from (old.account_id, old.id, old.kind, old.ledger, old.chain, old.from_address, old.to_address,
         old.token_contract, old.created_at))
  execute function refuse('withdrawal_immutable');
-- G25: what was signed stays signed. Versions are only added, and no version's amount is lost; nothing with a version
-- is a build again; the amount of a signed withdrawal becomes that of a version it has, or, lower, that of its newest
-- build; what is in a block pays what that version was signed for; a confirmed withdrawal stays what it is or loses its
-- block to a reorg.
create trigger withdrawal_moves_forward before update on withdrawal for each row
  when ((new.status = 'built' and old.status <> 'built')
    or (new.status = 'built' and jsonb_array_length(new.versions) > 0)
    or not jsonb_path_query_array(new.versions, '$[*].txid') @> jsonb_path_query_array(old.versions, '$[*].txid')
    or not jsonb_path_query_array(new.versions, '$[*].amount') @> jsonb_path_query_array(old.versions, '$[*].amount')
    or jsonb_array_length(new.versions) < jsonb_array_length(old.versions)
    or (new.amount <> old.amount and jsonb_array_length(old.versions) > 0
      and not old.versions @> jsonb_build_array(jsonb_build_object('amount', new.amount::text))
      and not (new.amount < old.amount and new.height is null
        and (new.unsigned ->> 'amount') is not distinct from new.amount::text))
    or (new.height is not null
      and jsonb_path_exists(new.versions, '$[*] ? (@.txid == $txid && @.amount != $amount)',
        jsonb_build_object('txid', new.txid, 'amount', new.amount::text)))
    or (old.status = 'confirmed' and (new.status not in ('confirmed', 'broadcast') or new.amount <> old.amount)))
  execute function refuse('withdrawal_moves_forward');
create trigger withdrawal_counted after insert on withdrawal referencing new table as changed
  for each statement execute function count_listed('withdrawal');
create trigger withdrawal_uncounted after delete on withdrawal referencing old table as changed
  for each statement execute function count_listed('withdrawal');

-- Of one tenant.
alter table withdrawal enable row level security, force row level security;
create policy tenant on withdrawal for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on withdrawal to flock_owner using (true) with check (true);
grant select on withdrawal to flock_app;

-- I24: what is billed, by period ('2026-11'). A sweep can never be billed, honestly or under another name.
create table billable (
  account_id    text collate "C" not null,
  withdrawal_id text collate "C" not null,
  kind          text not null constraint billable_never_sweep check (kind <> 'sweep'),
  period        text not null constraint billable_period check (period ~ '^[0-9]{4}-[0-9]{2}$'),
  constraint billable_of_withdrawal foreign key (account_id, withdrawal_id, kind)
    references withdrawal (account_id, id, kind)
);
create index billable_by_period on billable (account_id, period); -- settled_transactions
alter table billable add constraint billable_once primary key (account_id, withdrawal_id);

-- Of one tenant.
alter table billable enable row level security, force row level security;
create policy tenant on billable for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on billable to flock_owner using (true) with check (true);
grant select on billable to flock_app;

-- I25: the billing counter is a view over rows, under the reader's own row security.
create view settled_transactions with (security_invoker = true) as
  select account_id, period, count(*) as settled from billable group by account_id, period;
grant select on settled_transactions to flock_app;
