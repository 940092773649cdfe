-- What happened to a withdrawal, and where a deposit moved to, oldest first, at most `most`. As the owner: under
-- row-level security no index of an expression is looked into. Console C17.
create or replace function events_of_transaction(of_account text, transaction text, most int)
returns table (version bigint, type text, txid text, height bigint, reason text, recorded_at timestamptz)
language sql stable security definer set search_path = flock, pg_temp set enable_seqscan = off as $$
  select e.version, e.type, e.body ->> 'txid', (e.body ->> 'height')::bigint, e.body ->> 'reason', e.recorded_at
    from event e
   where e.account_id = of_account collate "C" and e.body ->> 'id' = transaction
     and (e.type = 'deposit_moved' or e.type like 'withdrawal\_%')
   order by e.version limit most
$$;
grant execute on function events_of_transaction to flock_app;
