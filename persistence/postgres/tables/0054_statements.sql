-- Statements: what an account owes for a month that is over. Console B10.

-- The last number of each year: a counter row, so that numbers have no gap. Written by append_billing.
create table statement_number (
  year int primary key,
  last int not null constraint statement_number_starts check (last > 0)
);
create trigger statement_number_rises before update on statement_number for each row
  when (new.year <> old.year or new.last <> old.last + 1) execute function refuse('statement_number_rises');
create trigger statement_number_stays before delete on statement_number for each row
  execute function refuse('statement_number_stays');

-- A statement never changes: what was wrong is a line of the next one. `lines` are as they were computed, each in whole
-- cents (model/account/billing.ts); the total is their sum.
create table statement (
  account_id  text        collate "C" not null references account,
  id          text        collate "C" not null,
  number      text        collate "C" not null constraint statement_number_once unique,
  period      text        not null constraint statement_period check (period ~ '^[0-9]{4}-[0-9]{2}$'),
  lines       jsonb       not null,
  total_cents bigint      not null,
  settled     bigint      not null constraint statement_settled check (settled >= 0),
  issued_at   timestamptz not null,
  primary key (account_id, id),
  constraint statement_once unique (account_id, period),
  constraint statement_of_live check (account_id like '%\_live')
);
create trigger statement_adds_up before insert on statement for each row execute function statement_adds_up();
create trigger statement_immutable before update or delete on statement for each row
  execute function refuse('statement_immutable');

-- Of one tenant.
alter table statement enable row level security, force row level security;
create policy tenant on statement for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on statement to flock_owner using (true) with check (true);
grant select on statement to flock_app;

-- The month whose statement is to come, as pending_band_at: an index on the state itself would have each append write
-- to all indexes of the account's row. Read by accounts_with_open_period.
-- Empty for an account that is on a band and has no month: it was on it before there were statements, or began on it.
alter table account add column open_period text generated always as (coalesce(state -> 'openPeriod' ->> 'month',
  case when account_id like '%\_live' and state -> 'plan' ->> 'tier' <> 'free' then '' end)) stored;
-- In the order in which they are walked: at the beginning of a month all of them are due.
create index account_with_open_period on account (account_id, open_period) where open_period is not null;
