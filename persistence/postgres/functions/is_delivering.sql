-- Whether a delivery of an account is due at an instant, and was not tried: until then the webhooks of what happened
-- are on their way. Ecosystem X75.
create or replace function is_delivering(of_account text, until timestamptz) returns boolean
language sql stable security definer set search_path = flock, pg_temp
set enable_seqscan = off as $$
  select exists (select from webhook w cross join lateral (
    select 1 from delivery d
     where d.webhook_id = w.id and d.account_id = w.account_id and d.status in ('pending', 'failed')
       and d.next_attempt_at is not null and d.next_attempt_at <= until
     order by d.next_attempt_at, d.seq limit 1) r
   where of_account like '%\_sandbox' and w.account_id = of_account and w.status = 'enabled' and w.held_through is null)
$$;
grant execute on function is_delivering to flock_app;
