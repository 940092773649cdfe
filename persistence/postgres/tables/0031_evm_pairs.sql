-- One EVM address per customer (spec 1.6): an index has a row for each of the five networks that it was asked for. Networks
-- are paired within (account_id, user_ref, tag): the n-th address of one is the n-th of every other.
drop index address_index_once;
create unique index address_index_once on address (account_id, family, index, chain) where index is not null;
create index address_by_pair on address (account_id, user_ref, coalesce(tag, ''), chain, status, index)
  where family = 'evm' and purpose = 'deposit' and index is not null and user_ref is not null;

-- Indexes that a network passed over while all their rows were archived, and that are active again. Rare: what lies above
-- the highest index of a network is found without it. `tag` is '' where the address has none.
create table address_gap (
  account_id text collate "C" not null references account,
  user_ref   text not null,
  tag        text not null,
  chain      text not null,
  index      bigint not null,
  primary key (account_id, user_ref, tag, chain, index)
);
alter table address_gap enable row level security;
alter table address_gap force row level security;
create policy tenant on address_gap for select to flock_app using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_gap to flock_owner using (true) with check (true);
grant select on address_gap to flock_app;

-- Until now every request issued an index of its own. Those below a network's highest one are its gaps.
with pair as (
  select account_id, user_ref, coalesce(tag, '') as tag, chain, max(index) as last
    from address where family = 'evm' and purpose = 'deposit' and index is not null and user_ref is not null
   group by 1, 2, 3, 4
)
insert into address_gap (account_id, user_ref, tag, chain, index)
  select a.account_id, a.user_ref, p.tag, p.chain, a.index
    from address a join pair p on p.account_id = a.account_id and p.user_ref = a.user_ref and p.tag = coalesce(a.tag, '')
   where a.family = 'evm' and a.purpose = 'deposit' and a.status = 'active' and a.index < p.last and a.chain <> p.chain;
