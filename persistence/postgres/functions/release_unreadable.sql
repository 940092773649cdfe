-- held for its secret ──▶ pending, or failed where it was tried before, due now: one page of what an endpoint's secret
-- held back, the rest by work_backlog; none while a stop of the endpoint is still worked off. Returns how many.
create or replace function release_unreadable(of_account text, endpoint text) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  released bigint;
begin
  with page as materialized (
    select d.id from webhook w join delivery d on d.account_id = w.account_id and d.webhook_id = w.id
     where w.account_id = of_account and w.id = endpoint and w.status = 'enabled' and w.held_through is null
       and d.status = 'held' and d.held_reason is not null
     limit 1000 for update of d skip locked
  )
  update delivery d set status = case d.attempts when 0 then 'pending' else 'failed' end,
      next_attempt_at = clock_timestamp(), held_reason = null
    from page p where d.id = p.id;
  get diagnostics released = row_count;
  if released = 1000 then update webhook w set backlog = true
      where w.account_id = of_account and w.id = endpoint and not w.backlog; end if;
  return released;
end $$;
grant execute on function release_unreadable to flock_app;
