-- As 0007 says, and a 410 disables the endpoint that it came from: one of the URL that the endpoint had before says nothing
-- about the URL that it has now. Who posted where is not known after a change of leader; then it counts.
create or replace function record_attempts(reported jsonb) returns void
language plpgsql security definer set search_path = flock, pg_temp
set enable_material = off set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
  -- Locked in the order of their ids: two streams may report at once.
  perform 1 from delivery d join jsonb_to_recordset(reported) r(account_id text, delivery_id text)
      on d.id = r.delivery_id and d.account_id = r.account_id
    order by d.id for update of d;
  insert into attempt (account_id, delivery_id, attempt, status_code, duration_ms, error, attempted_at)
    select d.account_id, d.id, r.attempt, r.status_code, r.duration_ms, r.error, r.attempted_at
      from jsonb_to_recordset(reported)
        r(account_id text, delivery_id text, attempt int, status_code int, duration_ms int, error text, attempted_at timestamptz)
      join delivery d on d.id = r.delivery_id and d.account_id = r.account_id
  on conflict on constraint attempt_once do nothing;
  -- The newest attempt of each delivery says what follows; one that was recorded before has said it. A delivery that was
  -- held meanwhile is not woken by a failure of its last try.
  update delivery d set attempts = r.attempt, claimed_until = null,
         status = case when d.status = 'held' and r.status in ('pending', 'failed') then 'held' else r.status end,
         next_attempt_at = case when d.status <> 'held' and r.status in ('pending', 'failed') then r.next_attempt_at end
    from (select distinct on (delivery_id) * from jsonb_to_recordset(reported)
            n(account_id text, delivery_id text, attempt int, status text, next_attempt_at timestamptz)
           order by delivery_id, attempt desc) r
   where d.id = r.delivery_id and d.account_id = r.account_id and d.attempts < r.attempt and d.status in ('pending', 'failed', 'held');
  if jsonb_path_exists(reported, '$[*].disable_endpoint ? (@ == true)') then
    with gone as (
      update webhook w set status = 'disabled', updated_at = clock_timestamp()
        from delivery d join jsonb_to_recordset(reported)
          r(account_id text, delivery_id text, disable_endpoint boolean, posted_to text)
          on d.id = r.delivery_id and d.account_id = r.account_id
       where r.disable_endpoint and (r.posted_to is null or r.posted_to = w.url) and w.account_id = d.account_id and w.id = d.webhook_id and w.status = 'enabled'
      returning w.account_id, w.id
    )
    update delivery d set status = 'held', next_attempt_at = null, claimed_until = null
      from gone where d.webhook_id = gone.id and d.account_id = gone.account_id
       and d.next_attempt_at is not null and d.status in ('pending', 'failed');
  end if;
end $$;
