-- Balances of the next `most` addresses of a family after a key, or of the given keys; one row per asset that moved and
-- always one of the native coin. A displaced fact counts: until it is orphaned its account stands credited with it.
create or replace function ledger_balances(of_ledger text, of_environment text, of_account text, of_family text,
                                after_key uuid, keys uuid[], through_height bigint, most int)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text,
               token_contract text, received numeric, sent numeric, unattributed numeric)
language sql stable security definer set search_path = flock, pg_temp as $$
  with chosen as materialized (
    select g.address_key, a.id, a.account_id, a.address, a.purpose
      from address_registry g join address a on a.account_id = g.account_id and a.id = g.address_id
     where (keys is null or g.address_key = any (keys)) and (after_key is null or g.address_key > after_key)
       and a.environment = of_environment and a.family = of_family and (of_account is null or a.account_id = of_account)
     order by g.address_key limit most
  ), asset as (
    select c.*, null::text as token_contract from chosen c
    union
    select c.*, f.transfer ->> 'tokenContract' from chosen c join fact f on f.ledger = of_ledger and f.address_key = c.address_key
     where f.status <> 'orphaned' and f.height <= through_height
  )
  select x.address_key, x.id, x.account_id, x.address, x.purpose, x.token_contract,
    (select coalesce(sum((f.transfer ->> 'amount')::numeric), 0) from fact f
      where f.ledger = of_ledger and f.address_key = x.address_key and f.status <> 'orphaned'
        and f.height <= through_height and f.transfer ->> 'tokenContract' is not distinct from x.token_contract),
    -- A failed transaction moved nothing and paid its fee.
    (select coalesce(sum(case when w.status <> 'failed' and w.token_contract is not distinct from x.token_contract then w.amount else 0 end
                         + case when x.token_contract is null then coalesce(w.fee, 0) else 0 end), 0)
       from withdrawal w
      where w.ledger = of_ledger and w.from_address = x.address and w.height <= through_height
        and w.status in ('confirming', 'confirmed', 'failed')),
    (select coalesce(sum(d.amount), 0) from discrepancy d
      where d.ledger = of_ledger and d.address_id = x.id and d.kind = 'unattributed' and d.height <= through_height
        and d.token_contract is not distinct from x.token_contract)
    from asset x
   order by x.address_key, x.token_contract nulls first;
$$;
grant execute on function ledger_balances to flock_app;
