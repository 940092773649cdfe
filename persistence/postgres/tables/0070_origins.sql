-- Where adopted addresses were found to come from after they were adopted, and the passes that found it.

-- `address` never changes; of several origins the newest counts. Written by record_origins (migration M-K2).
create table address_origin (
  account_id    text collate "C" not null,
  address_id    text collate "C" not null,
  nth           int  not null constraint address_origin_nth_positive check (nth >= 1),
  key_source_id text collate "C" not null,
  path          text not null constraint address_origin_path check (path ~ '^\[[0-9a-f]{16}(/[0-9]+''?)*\]$'),
  recorded_at   timestamptz not null default clock_timestamp(),
  constraint address_origin_once primary key (account_id, address_id, nth),
  constraint address_origin_of_address foreign key (account_id, address_id) references address (account_id, id)
);
create trigger address_origin_append_only before update or delete on address_origin
  for each row execute function append_only('address_origin');

-- Of one tenant.
alter table address_origin enable row level security, force row level security;
create policy tenant on address_origin for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_origin to flock_owner using (true) with check (true);
grant select on address_origin to flock_app;

-- Adopted addresses that nobody has derived: what a pass looks for.
create index address_untraced on address (account_id, family, id) where batch_id is not null and derivation_path = '[]';

-- The newest pass of a key source over them. `by_chain`: how many addresses of each chain it and those before it
-- traced. No money is here, so the application writes it (persistence/postgres/origin-store.ts).
create table key_source_pass (
  account_id    text collate "C" not null references account,
  key_source_id text collate "C" not null,
  state         text not null constraint key_source_pass_state check (state in ('running', 'done')),
  checked       bigint not null,
  traced        bigint not null constraint key_source_pass_traced check (traced between 0 and checked),
  by_chain      jsonb not null default '{}',
  worked_until  timestamptz not null,
  started_at    timestamptz not null,
  constraint key_source_pass_once primary key (account_id, key_source_id)
);
grant select, insert, update on key_source_pass to flock_app;
