-- The part of an append that is about clocks of sandbox accounts: how far each is ahead, as its state says. A reset
-- ends it. Ecosystem X75.
create or replace function append_clocks(batch jsonb) returns void language plpgsql
set search_path = flock, pg_temp as $$
begin
  if not (batch ?| array['sandbox_clocks', 'sandbox_resets']) then return; end if;
  delete from sandbox_clock c using jsonb_to_recordset(batch -> 'accounts') e(account_id text, state jsonb)
   where c.account_id = e.account_id and coalesce((e.state ->> 'aheadMs')::bigint, 0) = 0;
  insert into sandbox_clock as c (account_id, ahead)
    select e.account_id, (e.state ->> 'aheadMs')::bigint * interval '1 millisecond'
      from jsonb_to_recordset(batch -> 'accounts') e(account_id text, state jsonb)
        join jsonb_to_recordset(coalesce(batch -> 'sandbox_clocks', '[]')) r(account_id text) using (account_id)
     where (e.state ->> 'aheadMs')::bigint > 0
  on conflict (account_id) do update set ahead = excluded.ahead;
end $$;
