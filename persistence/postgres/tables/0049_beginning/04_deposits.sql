-- Deposits and their ledger. Both are written by append_money, in the append that decided them. Amounts are whole
-- numbers of the smallest unit (I2).

create domain amount as numeric(78, 0);

-- I1: an account has one deposit per (ledger, txid, output index), and over all accounts one of these is credited. One
-- that a reorg took away is marked `reversed` and never deleted.
--   detected ──threshold reached──▶ confirmed ──reorg──▶ reversed        detected ──reorg──▶ reversed
--   reversed ──included again──▶ detected, with the next incarnation
create table deposit (
  account_id     text collate "C" not null,
  id             text collate "C" not null,
  ledger         text collate "C" not null,
  chain          text   not null,
  txid           text collate "C" not null,
  output_index   bigint not null,
  address_id     text collate "C" not null,
  address        text collate "C" not null,
  amount         amount not null constraint deposit_amount_positive check (amount > 0),
  decimals       int    not null constraint deposit_decimals_range check (decimals between 0 and 77),
  token_contract text,
  token_symbol   text   not null,
  user_ref       text,
  tag            text,
  chain_tag      text,
  status         text   not null constraint deposit_status check (status in ('detected', 'confirmed', 'reversed')),
  incarnation    int    not null constraint deposit_incarnation_range check (incarnation >= 1),
  height         bigint not null,
  block_hash     text   not null,
  threshold      int    not null constraint deposit_threshold_positive check (threshold > 0),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- An announced deposit is reported to its end, also when its address is archived meanwhile.
  announced      boolean not null default true,
  -- The same as deposit_incarnation_range: the name under which I6 is cited.
  constraint deposit_incarnation_positive check (incarnation >= 1),
  constraint deposit_of_address foreign key (account_id, address_id) references address (account_id, id)
);
create index deposit_newest on deposit (account_id, created_at, id); -- the list of deposits without a filter
alter table deposit add constraint deposit_credit_key unique (txid, output_index, ledger, account_id);
create unique index deposit_credited_once on deposit (txid, output_index, ledger) where status = 'confirmed';
alter table deposit add primary key (account_id, id);
-- The list of deposits by its filters; see the list of addresses.
create index deposit_by_kind on deposit (account_id, chain, status, created_at, id) where chain is not null;
create index deposit_by_user on deposit (account_id, user_ref, chain, status, created_at, id)
  where user_ref is not null;
create index deposit_by_tag on deposit (account_id, tag, chain, status, created_at, id) where tag is not null;
create index deposit_by_user_tag on deposit (account_id, user_ref, tag, chain, status, created_at, id)
  where user_ref is not null and tag is not null;
alter table deposit alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);
-- For deposit_of_address when reset_sandbox deletes addresses. Not by account first: on a table without statistics it
-- would be taken in place of the key.
create index deposit_by_address on deposit (address_id);

-- I6: the key of a deposit stays, and within an incarnation what it is. There it goes detected → confirmed → reversed
-- and never back; only a higher incarnation begins again, and may be another movement: a contract may pay another
-- amount, token or payee when its transaction is included again. One append may hold several steps.
create trigger deposit_immutable before update on deposit for each row
  when ((new.account_id, new.id, new.ledger, new.chain, new.txid, new.output_index, new.created_at)
        is distinct from (old.account_id, old.id, old.ledger, old.chain, old.txid, old.output_index, old.created_at)
    or (new.incarnation = old.incarnation
        and (new.address_id, new.address, new.amount, new.decimals, new.token_contract)
        is distinct from (old.address_id, old.address, old.amount, old.decimals, old.token_contract)))
  execute function refuse('deposit_immutable');
create trigger deposit_moves_forward before update on deposit for each row
  when ((new.incarnation, array_position(array['detected', 'confirmed', 'reversed'], new.status))
        < (old.incarnation, array_position(array['detected', 'confirmed', 'reversed'], old.status)))
  execute function refuse('deposit_moves_forward');
create trigger deposit_append_only before delete on deposit for each row execute function append_only('deposit');
create trigger deposit_not_truncated before truncate on deposit
  for each statement execute function append_only('deposit');
create trigger deposit_counted after insert on deposit referencing new table as changed
  for each statement execute function count_listed('deposit');
create trigger deposit_uncounted after delete on deposit referencing old table as changed
  for each statement execute function count_listed('deposit');

-- Of one tenant.
alter table deposit enable row level security, force row level security;
create policy tenant on deposit for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on deposit to flock_owner using (true) with check (true);
grant select on deposit to flock_app;

-- I3–I7: the books. Append-only; at most one entry of a kind per incarnation; a reversal is exactly the negative of its
-- credit; a credit has the amount that was detected in its incarnation; the newest incarnation has the deposit's
-- amount. The generated columns carry the two foreign keys of the table to itself.
create table ledger_entry (
  deposit_id      text collate "C" not null,
  account_id      text collate "C" not null,
  incarnation     int    not null,
  kind            text   not null constraint ledger_entry_kind check (kind in ('detected', 'credit', 'reversal')),
  amount          amount not null,
  event_id        text collate "C",
  recorded_at     timestamptz not null default clock_timestamp(),
  credits_kind    text   generated always as (case when kind = 'credit' then 'detected' end) stored,
  credits_amount  amount generated always as (case when kind = 'credit' then amount end) stored,
  reverses_kind   text   generated always as (case when kind = 'reversal' then 'credit' end) stored,
  reverses_amount amount generated always as (case when kind = 'reversal' then -amount end) stored,
  constraint ledger_entry_once primary key (deposit_id, incarnation, kind),
  constraint ledger_entry_incarnation_positive check (incarnation >= 1),
  constraint ledger_entry_sign check (case kind when 'reversal' then amount < 0 else amount > 0 end),
  constraint ledger_entry_amount_of_kind unique (deposit_id, incarnation, kind, amount),
  constraint ledger_entry_reverses_credit foreign key (deposit_id, incarnation, reverses_kind, reverses_amount)
    references ledger_entry (deposit_id, incarnation, kind, amount),
  constraint ledger_entry_credits_detected foreign key (deposit_id, incarnation, credits_kind, credits_amount)
    references ledger_entry (deposit_id, incarnation, kind, amount),
  constraint ledger_entry_of_deposit foreign key (account_id, deposit_id) references deposit (account_id, id)
);
create trigger ledger_entry_append_only before update or delete on ledger_entry
  for each row execute function append_only('ledger_entry');
create trigger ledger_entry_not_truncated before truncate on ledger_entry
  for each statement execute function append_only('ledger_entry');
-- I7: an entry fits its deposit. I6: no later incarnation before the credit of an earlier one is reversed.
create trigger ledger_entry_fits_deposit before insert on ledger_entry
  for each row execute function ledger_entry_fits_deposit();
create trigger ledger_entry_in_turn after insert on ledger_entry referencing new table as added
  for each statement execute function ledger_entry_in_turn();
-- I11: no entry without its published event, but for an archived address (it stays quiet) and for a deposit that is
-- detected again (it was announced when it came first). Deferred: append_webhooks publishes after append_money.
create constraint trigger ledger_entry_has_event after insert on ledger_entry
  deferrable initially deferred for each row when (new.event_id is not null)
  execute function ledger_entry_has_event();
create constraint trigger ledger_entry_silence_allowed after insert on ledger_entry
  deferrable initially deferred for each row when (new.event_id is null)
  execute function ledger_entry_silence_allowed();

-- Of one tenant.
alter table ledger_entry enable row level security, force row level security;
create policy tenant on ledger_entry for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on ledger_entry to flock_owner using (true) with check (true);
grant select on ledger_entry to flock_app;
