-- What facts say that addresses hold: the next `most` addresses of a family after a key, or those of the given keys;
-- one row per asset that moved and always one of the native coin. A walk reads at most `looked_most` keys, of whichever
-- family: few of the next million may be of this one. Adopted addresses are left out: what they held before and what
-- the old wallet spends are in no fact (migration M-X8).
--
-- Of each side of an address at most `rows_most` rows are read beside its total (audit_total). Where more were not
-- counted yet, `uncounted` names the sides and subjects, and the row has no sums. The last row, which is of no address,
-- has the key to go on after; without it the walk has ended.
create or replace function balances_of_facts(of_ledger text, of_environment text, of_account text, of_family text,
                                after_key uuid, keys uuid[], through_height bigint, most int, looked_most int,
                                rows_most int)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text,
               token_contract text, received numeric, sent numeric, unattributed numeric, uncounted jsonb)
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
  ), counted as materialized (
    select c.address_key, s.side, s.subject, coalesce(t.through, -1) as through, coalesce(t.sums, '{}') as sums
      from chosen c
     cross join lateral (values ('received', c.address_key::text), ('sent', c.address), ('unattributed', c.id))
         s(side, subject)
      left join lateral (
        select n.through, n.sums from audit_total n
         where n.ledger = of_ledger and n.side = s.side and n.subject = s.subject offset 0) t on true
  ), beside as materialized (
    -- A total may be ahead of the height that is asked for: what is above is taken off again.
    select n.address_key, n.side, r.token, r.amount, r.fee,
           case when n.through > through_height then -1 else 1 end as sign
      from counted n
     cross join lateral audit_rows(of_ledger, n.side, n.subject, least(n.through, through_height),
         greatest(n.through, through_height), rows_most + 1) r
  ), behind as materialized (
    select n.address_key, jsonb_agg(jsonb_build_object('side', n.side, 'subject', n.subject) order by n.side) as sides
      from counted n
     where (select count(*) from beside b where b.address_key = n.address_key and b.side = n.side) > rows_most
     group by n.address_key
  ), moved as (
    select n.address_key, n.side, e.key as token, e.value::numeric as amount
      from counted n cross join lateral jsonb_each_text(n.sums) e
    union all
    select b.address_key, b.side, b.token, b.sign * b.amount from beside b
    union all
    select b.address_key, b.side, '', b.sign * b.fee from beside b where b.fee <> 0
  ), summed as materialized (
    select m.address_key, m.token,
        coalesce(sum(m.amount) filter (where m.side = 'received'), 0) as received,
        coalesce(sum(m.amount) filter (where m.side = 'sent'), 0) as sent,
        coalesce(sum(m.amount) filter (where m.side = 'unattributed'), 0) as unattributed,
        bool_or(m.side = 'received') as is_asset
      from moved m group by m.address_key, m.token
  )
  select c.address_key, c.id, c.account_id, c.address, c.purpose, nullif(x.token, ''),
         x.received, x.sent, x.unattributed, null::jsonb
    from chosen c cross join lateral (
      select '' as token, coalesce(sum(s.received), 0) as received, coalesce(sum(s.sent), 0) as sent,
             coalesce(sum(s.unattributed), 0) as unattributed
        from summed s where s.address_key = c.address_key and s.token = ''
      union all
      select s.token, s.received, s.sent, s.unattributed from summed s
       where s.address_key = c.address_key and s.token <> '' and s.is_asset) x
   where not exists (select from behind b where b.address_key = c.address_key)
  union all
  select c.address_key, c.id, c.account_id, c.address, c.purpose, null, null, null, null, b.sides
    from behind b join chosen c on c.address_key = b.address_key
  union all
  select * from (
    select case when (select count(*) from chosen) = most
                  then (select c.address_key from chosen c order by c.address_key desc limit 1)
                when (select count(*) from looked) = looked_most
                    then (select l.address_key from looked l order by l.address_key desc limit 1) end as key,
           null::text, null::text, null::text, null::text, null::text, null::numeric, null::numeric,
               null::numeric, null::jsonb) go_on
   where keys is null and go_on.key is not null
   order by 1, 2 nulls last, 6 nulls first;
$$;
grant execute on function balances_of_facts to flock_app;
