-- Addresses: the registry that watchers ask (unique over all accounts) and the projection that accounts list.

-- One address belongs to one account for ever (I9). The key is 16 bytes of SHA-256 over environment, family and decoded
-- bytes; the first byte chooses the partition, so that a client can split its arrays. Sixteen ranges: each splits
-- further without touching the others.
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
      to_hex(nibble), to_hex(nibble) || '0000000-0000-0000-0000-000000000000',
      case when nibble = 15 then 'maxvalue' else quote_literal(to_hex(nibble + 1) || '0000000-0000-0000-0000-000000000000') end);
  end loop;
end $$;

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
create index address_by_birth on address (created_at);
create index address_by_user on address (account_id, user_ref, id) where user_ref is not null;
-- I10: a derivation index is used once. The account's own addresses have none.
create unique index address_index_once on address (account_id, family, index) where index is not null;
alter table address add primary key (account_id, id);
create index address_by_text on address (address, account_id);

alter table address_registry add constraint address_registry_of_address
  foreign key (account_id, address_id) references address (account_id, id);

create trigger address_immutable before update on address for each row
  when ((new.account_id, new.id, new.environment, new.chain, new.family, new.address, new.address_key, new.derivation_path,
         new.purpose, new.index, new.user_ref, new.tag, new.created_at)
        is distinct from (old.account_id, old.id, old.environment, old.chain, old.family, old.address, old.address_key,
         old.derivation_path, old.purpose, old.index, old.user_ref, old.tag, old.created_at))
  execute function refuse('address_immutable');
create trigger address_append_only before delete on address for each row execute function append_only('address');
create trigger address_registry_append_only before update or delete on address_registry
  for each row execute function append_only('address_registry');

create table account_key (
  account_id   text collate "C" not null references account,
  family       text not null,
  fingerprint  text collate "C" not null,
  xpub         text not null,
  account_path text not null,
  status       text not null constraint account_key_status check (status in ('active', 'held', 'retired')),
  primary key (account_id, family, fingerprint)
);
create unique index account_key_one_active on account_key (account_id, family) where status = 'active';

-- Addresses that the edge derived and nobody has yet. The last push of an index wins; issued ones live in `address`.
create table pool_address (
  account_id  text collate "C" not null references account,
  chain       text   not null,
  index       bigint not null constraint pool_address_index_range check (index between 0 and 2147483647),
  address     text collate "C" not null,
  path        text   not null,
  address_key uuid   not null,
  primary key (account_id, chain, index)
);

-- I21: an address is never derived from a key that is held back. Pooled chains have addresses and no key.
create function address_has_active_key() returns trigger language plpgsql as $$
begin
  if exists (select 1 from issued i where i.family not in ('sol', 'xlm') and not exists (
       select 1 from account_key k where k.account_id = i.account_id and k.family = i.family and k.status = 'active')) then
    raise exception 'an address has no active key'
      using errcode = 'check_violation', constraint = 'address_has_active_key', table = 'address';
  end if;
  return null;
end $$;
create trigger address_has_active_key after insert on address referencing new table as issued
  for each statement execute function address_has_active_key();

-- I26: the highest number of active addresses of a day; it only rises.
create table address_peak (
  account_id text collate "C" not null references account,
  day        date not null,
  active     bigint not null constraint address_peak_not_negative check (active >= 0),
  primary key (account_id, day)
);
create trigger address_peak_rises before update on address_peak for each row
  when (new.active < old.active) execute function refuse('address_peak_rises');
