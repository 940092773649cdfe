-- What falls due for one account until an instant of its own time, the earliest first, at most `most` of it. `work`
-- is what the caller needs to do it: the timer of a confirmation, the firings of a policy. Of deliveries the retries;
-- first attempts wait for nothing. Ecosystem X75.
create or replace function due_in_sandbox(of_account text, until timestamptz, most int)
returns table (at timestamptz, what text, id text, work text)
language sql stable security definer set search_path = flock, pg_temp
set enable_seqscan = off as $$
  -- By whole milliseconds, as callers count: the next one, at which it is due for sure.
  select date_trunc('milliseconds', d.at + interval '999 microseconds'), d.what, d.id, d.work from (
    select t.due_at as at, 'confirmation' as what, t.task ->> 'txid' as id, t.id as work from sandbox_task t
     where t.account_id = of_account and t.task ->> 'kind' = 'confirm' and t.due_at <= until
    union all
    (select p.expires_at, 'payment_expiry', p.id, '' from payment p
      where p.account_id = of_account and p.status = 'awaiting_payment' and p.expires_at <= until
      order by p.expires_at limit most)
    union all
    (select l.closes_at, 'link_end', l.id, '' from payment_link l
      where l.account_id = of_account and l.status <> 'closed' and l.closes_at is not null and l.closes_at <= until
      order by l.closes_at limit most)
    union all
    (select l.monitor_until, 'link_monitored', l.id, '' from payment_link l
      where l.account_id = of_account and l.status = 'closed' and l.monitored_at is null and l.monitor_until <= until
      order by l.monitor_until limit most)
    union all
    select p.due_at, 'sweep_policy', p.id, p.fired::text from sweep_policy p
     where p.account_id = of_account and p.due_at <= until
       and not exists (select from sweep_job j
            where j.account_id = p.account_id and j.policy_id = p.id and j.ended_at is null)
    union all
    select r.next_attempt_at, 'delivery_retry', r.id, '' from webhook w cross join lateral (
      select d.next_attempt_at, d.id from delivery d
       where d.webhook_id = w.id and d.account_id = w.account_id and d.status = 'failed'
         and d.next_attempt_at is not null and d.next_attempt_at <= until
       order by d.next_attempt_at, d.seq limit most) r
     where w.account_id = of_account and w.status = 'enabled'
  ) d where of_account like '%\_sandbox' order by d.at, d.what, d.id limit most
$$;
grant execute on function due_in_sandbox to flock_app;
