-- Records attempts, each once, and what follows from the newest one of each delivery. What an edge reports of another
-- account's delivery is left out.
--   pending | failed ──2xx──▶ delivered   ──another answer──▶ failed, due again   ──the last one──▶ dead_lettered
--   dead_lettered ──2xx of another owner's attempt that was under way──▶ delivered
--   held ──a failure of an attempt that was under way──▶ held      held ──2xx──▶ delivered
-- A 410 disables the endpoint that it came from (stop_endpoint): one of a URL that the endpoint had before says nothing
-- about its URL now. After a change of leader nobody knows which URL was posted to; then it counts. Reports are looked
-- up by key: plans are kept, and one that was made while the table was small reads all of it.
create or replace function record_attempts(reported jsonb) returns void
language plpgsql security definer set search_path = flock, pg_temp
set enable_material = off set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
  stopped text[];
begin
  -- Endpoints before deliveries, as everywhere: one that is being deleted and one that answered 410 never wait for each
  -- other.
  if jsonb_path_exists(reported, '$[*].disable_endpoint ? (@ == true)') then
    perform 1 from webhook w
      where (w.account_id, w.id) in (
        select d.account_id, d.webhook_id from delivery d
            join jsonb_to_recordset(reported) r(account_id text, delivery_id text, disable_endpoint boolean)
            on d.id = r.delivery_id and d.account_id = r.account_id where r.disable_endpoint)
      order by w.account_id, w.id for no key update;
  end if;
  -- Locked in the order of their ids: two streams may report at once.
  perform 1 from delivery d join jsonb_to_recordset(reported) r(account_id text, delivery_id text)
      on d.id = r.delivery_id and d.account_id = r.account_id
    order by d.id for update of d;
  -- Two owners, one after the other, may both have posted under one number. A delivery that one of them reports as
  -- delivered is delivered: where the number has the other's failure, it gets the next one.
  if jsonb_path_exists(reported, '$[*].status ? (@ == "delivered")') then
    select jsonb_agg(case when d.attempts is null then r.value
             else r.value || jsonb_build_object('attempt', d.attempts + 1) end order by r.n)
      into reported
      from jsonb_array_elements(reported) with ordinality r(value, n) left join lateral (
        select o.attempts from delivery o join attempt a on a.delivery_id = o.id
            and a.attempt = (r.value ->> 'attempt')::int
         where o.id = r.value ->> 'delivery_id' and o.account_id = r.value ->> 'account_id'
           and r.value ->> 'status' = 'delivered' and o.status in ('failed', 'dead_lettered', 'held')
           and o.attempts < 21 and (r.value ->> 'attempt')::int <= o.attempts
           and a.status_code is distinct from (r.value ->> 'status_code')::int offset 0) d on true;
  end if;
  insert into attempt (account_id, delivery_id, attempt, status_code, duration_ms, error, attempted_at)
    select d.account_id, d.id, r.attempt, r.status_code, r.duration_ms, r.error, r.attempted_at
      from jsonb_to_recordset(reported)
        r(account_id text, delivery_id text, attempt int, status_code int, duration_ms int, error text,
            attempted_at timestamptz)
      join delivery d on d.id = r.delivery_id and d.account_id = r.account_id
  on conflict on constraint attempt_once do nothing;
  -- The newest attempt of each delivery says what follows; one that was recorded before has said it. A delivery that
  -- was held meanwhile is not woken by a failure of its last try.
  update delivery d set attempts = r.attempt, claimed_until = null,
         held_for = case when r.status in ('pending', 'failed') then d.held_for end,
         status = case when d.status = 'held' and r.status in ('pending', 'failed') then 'held' else r.status end,
         next_attempt_at = case when d.status <> 'held' and r.status in ('pending', 'failed')
             then coalesce(clock_timestamp() + ahead_of(d.account_id) + r.next_in_ms * interval '1 millisecond',
               r.next_attempt_at) end
    from (select distinct on (delivery_id) * from jsonb_to_recordset(reported)
            n(account_id text, delivery_id text, attempt int, status text, next_attempt_at timestamptz,
                next_in_ms bigint)
           order by delivery_id, attempt desc) r
   where d.id = r.delivery_id and d.account_id = r.account_id and d.attempts < r.attempt
     and (d.status in ('pending', 'failed', 'held') or d.status = 'dead_lettered' and r.status = 'delivered');
  if jsonb_path_exists(reported, '$[*].disable_endpoint ? (@ == true)') then
    with gone as (
      -- A backlog in any case: an event that is being appended at this instant still sees it enabled (work_backlog).
      update webhook w set status = 'disabled', backlog = true, updated_at = clock_timestamp()
        from delivery d join jsonb_to_recordset(reported)
          r(account_id text, delivery_id text, disable_endpoint boolean, posted_to text)
          on d.id = r.delivery_id and d.account_id = r.account_id
       where r.disable_endpoint and (r.posted_to is null or r.posted_to = w.url) and w.account_id = d.account_id
         and w.id = d.webhook_id and w.status = 'enabled'
      returning w.account_id, w.id
    )
    select array_agg(distinct account_id || ' ' || id) into stopped from gone;
    perform stop_endpoint(split_part(one, ' ', 1), split_part(one, ' ', 2)) from unnest(stopped) one;
  end if;
  -- Those who listen see that there is something to read. Last, and in the order of accounts: a batch that waits for
  -- such a row has all others that it needs.
  insert into delivery_change as c (account_id, n)
    select distinct d.account_id, 1 from delivery d
        join jsonb_to_recordset(reported) r(account_id text, delivery_id text)
        on d.id = r.delivery_id and d.account_id = r.account_id
     order by d.account_id
  on conflict (account_id) do update set n = c.n + 1;
end $$;
grant execute on function record_attempts to flock_app;
