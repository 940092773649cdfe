-- Transfers of bridges that are looked at by now, of all accounts, behind one of them: each owner of accounts goes on
-- with its own, whichever node began them.
create or replace function due_bridge_transfers(at timestamptz, behind_account text, behind_id text, most int)
returns table (account_id text, id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select b.account_id, b.id from bridge_transfer b
   where b.ended_at is null and b.look_at <= at and (b.account_id, b.id) > (behind_account, behind_id)
   order by b.account_id, b.id limit most;
$$;
grant execute on function due_bridge_transfers to flock_app;
