-- The publisher's statements.

-- Claims due deliveries, oldest first, at most `most`. Order: within (endpoint, order key) a first attempt is claimed
-- only when no earlier one is left behind unclaimed; retries and replays are free to be overtaken. Accounts are asked
-- one by one, so that the backlog of one does not hide the others; endpoints in `busy` are left alone.
create function claim_deliveries(accounts text[], most int, now_at timestamptz, claim_until timestamptz, busy text[])
returns table (delivery_id text, account_id text, event_id text, webhook_id text, replay int, status text, attempts int,
               next_attempt_at timestamptz, url text, sealed_secrets text[], body text, order_key text)
language sql security definer set search_path = flock, pg_temp
set enable_material = off set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  with due as materialized (
    select d.id, d.seq from unnest(accounts) a(account_id) cross join lateral (
      select o.id, o.seq, o.next_attempt_at from delivery o
       where o.account_id = a.account_id and o.status in ('pending', 'failed') and o.next_attempt_at <= now_at
         and (o.claimed_until is null or o.claimed_until <= now_at) and o.webhook_id <> all (busy)
       order by o.next_attempt_at, o.seq limit most) d
     order by d.next_attempt_at, d.seq limit most
  ), locked as materialized (
    select d.id, d.webhook_id, d.order_key, d.seq, d.status = 'pending' and d.replay = 0 as first
      from delivery d join due using (id)
     where d.status in ('pending', 'failed') and d.next_attempt_at <= now_at
       and (d.claimed_until is null or d.claimed_until <= now_at)
     order by d.seq for update of d skip locked
  ), barrier as materialized (
    -- Per endpoint and order key the first of those that stay behind: what comes after it waits.
    select k.webhook_id, k.order_key, b.seq
      from (select distinct webhook_id, order_key from locked where first) k cross join lateral (
        select e.seq from delivery e
         where e.webhook_id = k.webhook_id and e.order_key = k.order_key and e.status = 'pending' and e.replay = 0
           and (e.claimed_until is null or e.claimed_until <= now_at) and e.id not in (select id from locked)
         order by e.seq limit 1) b
  ), claimed as (
    update delivery d set claimed_until = claim_until
      from locked l left join barrier b on b.webhook_id = l.webhook_id and b.order_key = l.order_key
     where d.id = l.id and (not l.first or b.seq is null or l.seq < b.seq)
    returning d.*
  )
  select c.id, c.account_id, c.event_id, c.webhook_id, c.replay, c.status, c.attempts, c.next_attempt_at,
         w.url, w.sealed_secrets, p.body, c.order_key
    from claimed c
    join webhook w on w.account_id = c.account_id and w.id = c.webhook_id and w.status = 'enabled' -- I16: stops at once
    join publication p on p.account_id = c.account_id and p.event_id = c.event_id
   order by c.seq, c.id;
$$;

-- Attempts, each once, with what follows from it. What an edge says of another account's delivery is left out. An
-- endpoint that answered 410 is disabled and its waiting deliveries are held.
-- Plans are kept, and one that was made while the table was small reads all of it: a report is always looked up by key.
create function record_attempts(reported jsonb) returns void
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
        from delivery d join jsonb_to_recordset(reported) r(account_id text, delivery_id text, disable_endpoint boolean)
          on d.id = r.delivery_id and d.account_id = r.account_id
       where r.disable_endpoint and w.account_id = d.account_id and w.id = d.webhook_id and w.status = 'enabled'
      returning w.account_id, w.id
    )
    update delivery d set status = 'held', next_attempt_at = null, claimed_until = null
      from gone where d.webhook_id = gone.id and d.account_id = gone.account_id
       and d.next_attempt_at is not null and d.status in ('pending', 'failed');
  end if;
end $$;

create function release_deliveries(ids text[]) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update delivery set claimed_until = null where id = any (ids) and status in ('pending', 'failed');
$$;

-- I14: `svc_event_publication_incomplete`, a query and not a counter.
create function incomplete_publications() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select count(*) from publication where completed_at is null;
$$;
