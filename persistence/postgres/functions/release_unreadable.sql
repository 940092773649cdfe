create or replace function release_unreadable(of_account text, endpoint text) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with released as (
    update delivery d set status = case d.attempts when 0 then 'pending' else 'failed' end,
           next_attempt_at = clock_timestamp(), held_reason = null
      from webhook w
     where w.account_id = of_account and w.id = endpoint and w.status = 'enabled'
       and d.account_id = of_account and d.webhook_id = endpoint and d.status = 'held' and d.held_reason is not null
    returning 1
  )
  select count(*) from released;
$$;
grant execute on function release_unreadable to flock_app;
