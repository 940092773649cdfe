-- For nodes of an earlier release: balances_of_facts, which reads every row of an address.
--
-- What facts say that addresses hold: the next `most` addresses of a family after a key, or those of the given keys;
-- one row per asset that moved and always one of the native coin. A displaced fact counts: until it is orphaned its
-- account is credited with it. A walk reads at most `looked_most` keys, of whichever family: few of the next million
-- may be of this one. Adopted addresses are left out: what they held before and what the old wallet spends are in no
-- fact (migration M-X8). Its last row, which is of no address, has the key to go on after; without it the walk has
-- ended.
create or replace function audited_balances(of_ledger text, of_environment text, of_account text, of_family text,
                                after_key uuid, keys uuid[], through_height bigint, most int, looked_most int)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text,
               token_contract text, received numeric, sent numeric, unattributed numeric)
language sql stable security definer set search_path = flock, pg_temp as $$
  with looked as materialized (
    select g.address_key, g.account_id, g.address_id from unnest(keys) k(key)
        join address_registry g on g.address_key = k.key
    union all
    (select g.address_key, g.account_id, g.address_id from address_registry g
      where keys is null and g.address_key > coalesce(after_key, '00000000-0000-0000-0000-000000000000')
          order by g.address_key limit looked_most)
  ), chosen as materialized (
    select g.address_key, a.id, a.account_id, a.address, a.purpose
      from looked g cross join lateral (
        select o.id, o.account_id, o.address, o.purpose from address o
         where o.account_id = g.account_id and o.id = g.address_id and o.environment = of_environment
           and o.family = of_family
           and (of_account is null or o.account_id = of_account) and o.batch_id is null and not o.wiped offset 0) a
     order by g.address_key limit most
  ), asset as (
    select c.*, null::text as token_contract from chosen c
    union
    select c.*, f.transfer ->> 'tokenContract' from chosen c
        join fact f on f.ledger = of_ledger and f.address_key = c.address_key
     where f.status <> 'orphaned' and f.height <= through_height
  )
  select x.address_key, x.id, x.account_id, x.address, x.purpose, x.token_contract,
    (select coalesce(sum((f.transfer ->> 'amount')::numeric), 0) from fact f
      where f.ledger = of_ledger and f.address_key = x.address_key and f.status <> 'orphaned'
        and f.height <= through_height and f.transfer ->> 'tokenContract' is not distinct from x.token_contract),
    -- A failed transaction moved nothing and paid its fee.
    (select coalesce(sum(case when w.status <> 'failed' and w.token_contract is not distinct from x.token_contract
        then w.amount else 0 end
                         + case when x.token_contract is null then coalesce(w.fee, 0) else 0 end), 0)
       from withdrawal w
      where w.ledger = of_ledger and w.from_address = x.address and w.height <= through_height
        and w.status in ('confirming', 'confirmed', 'failed')),
    (select coalesce(sum(d.amount), 0) from discrepancy d
      where d.ledger = of_ledger and d.address_id = x.id and d.kind = 'unattributed' and d.height <= through_height
        and d.token_contract is not distinct from x.token_contract)
    from asset x
  union all
  select * from (
    select case when (select count(*) from chosen) = most
                  then (select c.address_key from chosen c order by c.address_key desc limit 1)
                when (select count(*) from looked) = looked_most
                    then (select l.address_key from looked l order by l.address_key desc limit 1) end as key,
           null::text, null::text, null::text, null::text, null::text, null::numeric, null::numeric,
               null::numeric) go_on
   where keys is null and go_on.key is not null
   order by 1, 2 nulls last, 6 nulls first;
$$;
grant execute on function audited_balances to flock_app;
