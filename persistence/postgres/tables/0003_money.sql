-- Deposits, the ledger, withdrawals and what is billed. Amounts are whole numbers of the smallest unit (I2).

create domain amount as numeric(78, 0);

-- I1: one deposit of an account per (ledger, txid, output index), and over all accounts one that is credited. Orphaned
-- ones are marked `reversed`, never deleted.
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
  -- An announced deposit is told to its end, also when its address is archived meanwhile.
  announced      boolean not null default true,
  constraint deposit_of_address foreign key (account_id, address_id) references address (account_id, id)
);
create index deposit_newest on deposit (account_id, created_at, id);
alter table deposit add constraint deposit_credit_key unique (txid, output_index, ledger, account_id);
create unique index deposit_credited_once on deposit (txid, output_index, ledger) where status = 'confirmed';
alter table deposit add primary key (account_id, id);

-- I6: the key of a deposit stays, and within an incarnation what it is. There it goes detected → confirmed → reversed and
-- never back; only a higher incarnation begins again, and may be another movement: a contract may pay another amount,
-- token or payee when its transaction is included again. One append may hold several steps.
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
create trigger deposit_not_truncated before truncate on deposit for each statement execute function append_only('deposit');

-- I3–I7: append-only; at most one entry of a kind per incarnation; a reversal is exactly the negative of its credit;
-- a credit has the amount that was detected in its incarnation; the newest incarnation has the deposit's.
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
create trigger ledger_entry_not_truncated before truncate on ledger_entry for each statement execute function append_only('ledger_entry');

create function ledger_entry_fits_deposit() returns trigger language plpgsql as $$
begin
  if new.kind <> 'reversal' and not exists (
    select 1 from deposit d where d.account_id = new.account_id and d.id = new.deposit_id
       and (d.incarnation > new.incarnation or (d.incarnation = new.incarnation and d.amount = new.amount))) then
    raise exception 'a % of % does not fit deposit %', new.kind, new.amount, new.deposit_id
      using errcode = 'check_violation', constraint = 'ledger_entry_fits_deposit', table = 'ledger_entry';
  end if;
  return new;
end $$;
create trigger ledger_entry_fits_deposit before insert on ledger_entry
  for each row execute function ledger_entry_fits_deposit();

create table withdrawal (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  -- A sweep is never billed (I24); the kind goes into the foreign key of what is billed.
  kind           text   not null default 'withdrawal' constraint withdrawal_kind check (kind in ('withdrawal', 'sweep')),
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
create index withdrawal_newest on withdrawal (account_id, created_at, id);
create index withdrawal_open on withdrawal (ledger, created_at) where status in ('signing', 'broadcast', 'confirming');
create index withdrawal_settled on withdrawal (ledger, height) where status in ('confirmed', 'failed') and height is not null;
create index withdrawal_by_sender on withdrawal (from_address, ledger) where height is not null;
alter table withdrawal add constraint withdrawal_with_kind unique (account_id, id, kind);
alter table withdrawal add primary key (account_id, id);
create trigger withdrawal_append_only before delete on withdrawal for each row execute function append_only('withdrawal');
create trigger withdrawal_not_truncated before truncate on withdrawal for each statement execute function append_only('withdrawal');

-- What a withdrawal is stays; its status, fee, versions and (send-all) amount move.
create trigger withdrawal_immutable before update on withdrawal for each row
  when ((new.account_id, new.id, new.kind, new.ledger, new.chain, new.from_address, new.to_address, new.token_contract, new.created_at)
        is distinct from (old.account_id, old.id, old.kind, old.ledger, old.chain, old.from_address, old.to_address,
         old.token_contract, old.created_at))
  execute function refuse('withdrawal_immutable');

-- I24: a sweep can never be billed, honestly or under another name.
create table billable (
  account_id    text collate "C" not null,
  withdrawal_id text collate "C" not null,
  kind          text not null constraint billable_never_sweep check (kind <> 'sweep'),
  period        text not null constraint billable_period check (period ~ '^[0-9]{4}-[0-9]{2}$'),
  constraint billable_of_withdrawal foreign key (account_id, withdrawal_id, kind)
    references withdrawal (account_id, id, kind)
);
create index billable_by_period on billable (account_id, period);
alter table billable add constraint billable_once primary key (account_id, withdrawal_id);

-- I25: the billing counter is a view over rows.
create view settled_transactions as
  select account_id, period, count(*) as settled from billable group by account_id, period;
