-- Addresses: the registry that watchers ask (unique over all accounts), the rows that accounts list, and what new ones
-- are made of. All are written by append_addresses.

-- I9: one address belongs to one account for ever. The key is 16 bytes of SHA-256 over environment, family and decoded
-- bytes. Partitions are sixteen ranges of its first four bits; each splits further without touching the others.
-- watched_addresses and audited_balances read it by key.
create table address_registry (
  address_key uuid not null,
  account_id  text collate "C" not null,
  address_id  text collate "C" not null,
  constraint address_registry_key primary key (address_key)
) partition by range (address_key);
do $$
begin
  for nibble in 0..15 loop
    execute format('create table address_registry_%s partition of address_registry for values from (%L) to (%s)',
      to_hex(nibble), rpad(to_hex(nibble), 32, '0')::uuid,
      case when nibble = 15 then 'maxvalue' else quote_literal(rpad(to_hex(nibble + 1), 32, '0')::uuid) end);
  end loop;
end $$;

-- Of one tenant.
alter table address_registry enable row level security, force row level security;
create policy tenant on address_registry for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_registry to flock_owner using (true) with check (true);
grant select on address_registry to flock_app;

-- Addresses as accounts list them. An EVM address has one row for each network that it was asked for; the registry
-- names the first. Of what an address is only its label and status change; change_address_status archives and
-- activates.
create table address (
  account_id      text collate "C" not null,
  id              text collate "C" not null,
  environment     text not null,
  chain           text not null,
  family          text not null,
  address         text collate "C" not null,
  address_key     uuid not null,
  derivation_path text not null,
  purpose         text not null constraint address_purpose check (purpose in ('deposit', 'gas_tank', 'treasury')),
  index           bigint constraint address_index_range check (
                    case purpose when 'deposit' then index between 0 and 2147483647 else index is null end),
  user_ref        text,
  tag             text,
  label           text,
  status          text not null constraint address_status check (status in ('active', 'archived')),
  created_at      timestamptz not null,
  -- I10: nothing of a sandbox is live.
  constraint address_environment check (account_id like '%\_' || environment),
  -- I31: the reserved change paths of the derived chains; pooled chains have their own template.
  constraint address_reserved_paths check (
    family in ('sol', 'xlm')
    or (purpose = 'gas_tank' and derivation_path like '%/1/0')
    or (purpose = 'treasury' and derivation_path like '%/1/1')
    or purpose = 'deposit')
);
create index address_by_birth on address (created_at); -- addresses_since
alter table address add primary key (account_id, id);
create index address_by_text on address (address, account_id); -- the list's filter by address; whose an address is
-- I10: a derivation index is used once on a network. The account's own addresses have none. check_pairs reads it too.
create unique index address_index_once on address (account_id, family, index, chain) where index is not null;
-- One EVM address per customer (spec 1.6): the n-th index of a (user_ref, tag) is the same on every network.
-- unpaired_index and check_pairs walk this index and name all of its columns.
create index address_by_pair on address (account_id, user_ref, coalesce(tag, ''), chain, status, index)
  where family = 'evm' and purpose = 'deposit' and index is not null and user_ref is not null;
-- The list of addresses (list.ts). Each equality filter, alone and with others, has one index that ends in the list's
-- order. A filter that an index names and a request leaves out has few values (chain, status): the list merges the
-- ranges of each value, so that a page reads as many rows as it shows.
create index address_by_kind on address (account_id, chain, status, id) where purpose = 'deposit';
create index address_by_user on address (account_id, user_ref, chain, status, id) where user_ref is not null;
create index address_by_tag on address (account_id, tag, chain, status, id) where tag is not null;
create index address_by_user_tag on address (account_id, user_ref, tag, chain, status, id)
  where user_ref is not null and tag is not null;
-- Gas tanks and treasuries, which every decision about deposits reads (inbox-store.ts).
create index address_own on address (account_id, id) where purpose <> 'deposit';
-- The planner must prefer the index that names all filters, although most rows may carry one and the same value.
alter table address alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);

-- I3, I9: what an address is stays, and no address goes, but with its sandbox.
create trigger address_immutable before update on address for each row
  when ((new.account_id, new.id, new.environment, new.chain, new.family, new.address, new.address_key,
         new.derivation_path, new.purpose, new.index, new.user_ref, new.tag, new.created_at)
        is distinct from (old.account_id, old.id, old.environment, old.chain, old.family, old.address, old.address_key,
         old.derivation_path, old.purpose, old.index, old.user_ref, old.tag, old.created_at))
  execute function refuse('address_immutable');
create trigger address_append_only before delete on address for each row execute function append_only('address');
create trigger address_registry_append_only before update or delete on address_registry
  for each row execute function append_only('address_registry');
-- I33: a key of the registry is of an address that its account has.
create trigger address_registry_of_address after insert on address_registry referencing new table as entered
  for each statement execute function registry_of_address();
-- I21: a derived address has an active key.
create trigger address_has_active_key after insert on address referencing new table as issued
  for each statement execute function address_has_active_key();
create trigger address_counted after insert on address referencing new table as changed
  for each statement execute function count_listed('address');
create trigger address_uncounted after delete on address referencing old table as changed
  for each statement execute function count_listed('address');

-- Of one tenant.
alter table address enable row level security, force row level security;
create policy tenant on address for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address to flock_owner using (true) with check (true);
grant select on address to flock_app;

-- Extended public keys of an account. Of a family one is active.
create table account_key (
  account_id   text collate "C" not null references account,
  family       text not null,
  fingerprint  text collate "C" not null,
  xpub         text not null,
  account_path text not null,
  status       text not null constraint account_key_status check (status in ('active', 'held', 'retired')),
  primary key (account_id, family, fingerprint)
);
create unique index account_key_one_active on account_key (account_id, family) where status = 'active'; -- I21

-- Of one tenant.
alter table account_key enable row level security, force row level security;
create policy tenant on account_key for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on account_key to flock_owner using (true) with check (true);
grant select on account_key to flock_app;

-- Addresses that the edge derived and nobody has yet. The last push of an index wins; issued ones are in `address`.
create table pool_address (
  account_id  text collate "C" not null references account,
  chain       text   not null,
  index       bigint not null constraint pool_address_index_range check (index between 0 and 2147483647),
  address     text collate "C" not null,
  path        text   not null,
  address_key uuid   not null,
  primary key (account_id, chain, index)
);

-- Of one tenant.
alter table pool_address enable row level security, force row level security;
create policy tenant on pool_address for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on pool_address to flock_owner using (true) with check (true);
grant select on pool_address to flock_app;

-- I26: the highest number of active addresses of a day, which is billed; it only rises.
create table address_peak (
  account_id text collate "C" not null references account,
  day        date not null,
  active     bigint not null constraint address_peak_not_negative check (active >= 0),
  primary key (account_id, day)
);
create trigger address_peak_rises before update on address_peak for each row
  when (new.active < old.active) execute function refuse('address_peak_rises');

-- Of one tenant.
alter table address_peak enable row level security, force row level security;
create policy tenant on address_peak for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_peak to flock_owner using (true) with check (true);
grant select on address_peak to flock_app;

-- Indexes that a network passed over while all their rows were archived, and that are active again. Rare: what lies
-- above the highest index of a network is found without it. `tag` is '' where the address has none. Written by
-- append_addresses and change_address_status; unpaired_index gives these first.
create table address_gap (
  account_id text collate "C" not null references account,
  user_ref   text not null,
  tag        text not null,
  chain      text not null,
  index      bigint not null,
  primary key (account_id, user_ref, tag, chain, index)
);

-- Of one tenant.
alter table address_gap enable row level security, force row level security;
create policy tenant on address_gap for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_gap to flock_owner using (true) with check (true);
grant select on address_gap to flock_app;
