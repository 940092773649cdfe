-- Rows of addresses that rested when their identity was retired, of one account, a bounded number a call; with none
-- left the account has none behind it. Those of the present identity rest on. Answers how many rows went.
create or replace function forget_resting(most int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  behind account;
  gone int;
begin
  select * into behind from account a where a.resting_until is not null
   order by a.account_id limit 1 for no key update skip locked;
  if not found then return 0; end if;
  delete from resting_address s where s.ctid = any (array(
    select r.place from unnest('{btc,eth,bsc,polygon,avax,base,tron,sol,xrp,xlm}'::text[]) c(chain)
     cross join lateral (
       select max((i -> 'next' ->> case when c.chain = any ('{eth,bsc,polygon,avax,base}') then 'evm' else c.chain end)
                  ::bigint) as from_index
         from jsonb_array_elements(behind.state -> 'retired') i) present
     cross join lateral (
       select o.ctid as place from resting_address o
        where o.account_id = behind.account_id and o.chain = c.chain and o.since <= behind.resting_until
          and o.index < present.from_index
        order by o.since limit most) r
     limit most));
  get diagnostics gone = row_count;
  if gone < most then
    update account a set resting_until = null where a.account_id = behind.account_id;
  end if;
  return gone;
end $$;
grant execute on function forget_resting to flock_app;
