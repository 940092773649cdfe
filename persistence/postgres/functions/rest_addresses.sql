-- Lent addresses begin to rest, those of them that never received: with the heads up to which nothing may have come
-- (payments S14). Those of an identity that was replaced never rest: they are not lent again (S17).
create or replace function rest_addresses(of_accounts text[], of_addresses text[], now_at timestamptz) returns void
language sql set search_path = flock, pg_temp as $$
  insert into resting_address (account_id, address_id, chain, index, since, heads)
    select a.account_id, a.id, a.chain, a.index, now_at, heads.known
      from unnest(of_accounts, of_addresses) r(account_id, address_id)
      cross join lateral (
        select o.account_id, o.id, o.chain, o.family, o.index from address o
         where o.account_id = r.account_id and o.id = r.address_id and o.status = 'active' offset 0) a
      cross join lateral (
        select coalesce(jsonb_object_agg(c.ledger, greatest(c.height, h.height)), '{}') as known
          from unnest(case when a.family = 'evm' then '{eth,bsc,polygon,avax,base}'::text[]
                           else array[a.chain] end) f(chain)
          join chain_cursor c on c.ledger = f.chain || case when a.account_id like '%\_sandbox' then '@' || a.account_id
                                                            else '' end
          left join chain_head h on h.ledger = c.ledger) heads
     where (select d.id from deposit d where d.account_id = a.account_id and d.address_id = a.id limit 1) is null
       and a.index >= coalesce((
         select max((i -> 'next' ->> a.family)::bigint)
           from account n cross join jsonb_array_elements(n.state -> 'retired') i
          where n.account_id = a.account_id), 0)
  on conflict (account_id, address_id) do nothing
$$;
