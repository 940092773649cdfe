-- What a provider of payments is asked for what statements leave to pay: one row for each statement with something to
-- pay, written with it. `round` counts what was opened at the provider for it. Console B17, B18.
create table collection_request (
  account_id   text        collate "C" not null,
  statement_id text        collate "C" not null,
  status       text        not null constraint collection_request_status check (status in ('due', 'open', 'closed')),
  provider     text        collate "C",
  reference    text        collate "C",
  page         text,
  round        int         not null default 0,
  next_at      timestamptz not null,
  primary key (account_id, statement_id),
  constraint collection_request_of_statement foreign key (account_id, statement_id) references statement,
  constraint collection_request_open check (status <> 'open' or (provider is not null and reference is not null))
);
-- ring_collection_request: what a provider speaks of.
create unique index collection_request_reference on collection_request (provider, reference)
  where reference is not null;
-- collection_requests_due: those to look at, longest waiting first.
create index collection_request_due on collection_request (next_at) where status <> 'closed';

-- Of one tenant.
alter table collection_request enable row level security, force row level security;
create policy tenant on collection_request for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on collection_request to flock_owner using (true) with check (true);
grant select on collection_request to flock_app;

insert into collection_request (account_id, statement_id, status, next_at)
  select account_id, id, 'due', issued_at from statement where total_cents > 0;

-- Who an account is at a provider: named before anything is opened there, and never again.
create table provider_payer (
  account_id text collate "C" not null references account,
  provider   text collate "C" not null,
  reference  text collate "C" not null,
  primary key (account_id, provider)
);
grant select, insert on provider_payer to flock_app;
