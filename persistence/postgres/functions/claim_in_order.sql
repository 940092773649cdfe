-- Claims due deliveries until `claim_until`, oldest first, at most `most`: of accounts whose shard has the epoch that
-- the caller got with it. A node that was frozen, and whose shards are another's by now, claims nothing. `epochs` null:
-- whoever owns them. A sandbox whose clock is ahead has its retries due by its own time.
--   due ──▶ claimed until `claim_until` ──record_attempts, release_claimed, or the time is over──▶ free
-- Within (endpoint, order key) a first attempt is claimed only when all earlier ones are claimed too, and are in the
-- caller's hands: their claims have one of the ends `held`. A claim that it does not know of (its answer was lost,
-- and its statement may have run after all such claims were ended) holds its lane back until it is over. `held`
-- null: every claim is. Retries and replays may be overtaken. Endpoints are read one by one, so that the backlog of
-- one does not hide the others; those in `busy`, and those of which a former stop is still being worked off
-- (work_backlog), are not read at all. What is of a project that is in observe again is held for it instead, and what
-- comes after it in its lane waits until that is due again (resume_held).
create or replace function claim_in_order(accounts text[], epochs bigint[], most int, now_at timestamptz,
    claim_until timestamptz, busy text[], held timestamptz[])
returns table (delivery_id text, account_id text, event_id text, webhook_id text, replay int, status text, attempts int,
               next_attempt_at timestamptz, url text, sealed_secrets text[], body text, order_key text)
language sql security definer set search_path = flock, pg_temp
set enable_material = off set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_sort = off as $$
  with due as materialized (
    select d.id, d.seq, a.until, a.is_between from unnest(accounts, epochs) n(account_id, epoch) cross join lateral (
      select o.account_id, now_at + coalesce((select c.ahead from sandbox_clock c where c.account_id = o.account_id),
               interval '0') as until, exists (
               select from migration_project p where p.account_id = o.account_id
                  and (p.holds or p.resumes is not null)) as is_between
        from account o join shard s on s.id = o.shard_id
       where o.account_id = n.account_id and (n.epoch is null or s.epoch = n.epoch) offset 0) a
     cross join lateral (
      select w.id from webhook w where w.account_id = a.account_id and w.status = 'enabled'
          and w.held_through is null and w.id <> all (busy) offset 0) w
     cross join lateral (
      select o.id, o.seq, o.next_attempt_at from delivery o
       where o.webhook_id = w.id and o.account_id = a.account_id and o.status in ('pending', 'failed')
         and o.next_attempt_at <= a.until
         and (o.claimed_until is null or o.claimed_until <= now_at)
       order by o.next_attempt_at, o.seq limit most) d
     order by d.next_attempt_at, d.seq limit most
  ), locked as materialized (
    select d.id, d.webhook_id, d.order_key, d.seq, d.status = 'pending' and d.replay = 0 as first, due.is_between,
           case when due.is_between then project_holding(d.account_id, d.order_key) end as holder
      from delivery d join due using (id)
     where d.status in ('pending', 'failed') and d.next_attempt_at <= due.until
       and (d.claimed_until is null or d.claimed_until <= now_at)
     order by d.seq for update of d skip locked
  ), stopped as (
    update delivery d set status = 'held', next_attempt_at = null, claimed_until = null, held_for = l.holder
      from locked l where d.id = l.id and l.holder is not null
  ), barrier as materialized (
    -- Per endpoint and order key the first of those that stay behind: what comes after it waits.
    select k.webhook_id, k.order_key, least((
        select e.seq from delivery e
         where e.webhook_id = k.webhook_id and e.order_key = k.order_key and e.status = 'pending' and e.replay = 0
           and (e.claimed_until is null or e.claimed_until <= now_at or e.claimed_until <> all (held))
           and e.id not in (select id from locked)
         order by e.seq limit 1), case when k.is_between then (
        select e.seq from delivery e
         where e.webhook_id = k.webhook_id and e.order_key = k.order_key and e.held_for is not null and e.replay = 0
           and e.attempts = 0
         order by e.seq limit 1) end) as seq
      from (select distinct webhook_id, order_key, is_between from locked where first) k
  ), claimed as (
    update delivery d set claimed_until = claim_until
      from locked l left join barrier b on b.webhook_id = l.webhook_id and b.order_key = l.order_key
     where d.id = l.id and l.holder is null and (not l.first or b.seq is null or l.seq < b.seq)
    returning d.*
  )
  select c.id, c.account_id, c.event_id, c.webhook_id, c.replay, c.status, c.attempts, c.next_attempt_at,
         w.url, w.sealed_secrets, p.body, c.order_key
    from claimed c
    join webhook w on w.account_id = c.account_id and w.id = c.webhook_id and w.status = 'enabled' -- I16: stops at once
    join publication p on p.account_id = c.account_id and p.event_id = c.event_id
   order by c.seq, c.id;
$$;
grant execute on function claim_in_order to flock_app;
