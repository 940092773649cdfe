-- Deliveries that cannot be signed, deliveries that have had their time, and what the gauge counts.

-- Why a delivery is held although its endpoint is enabled: its sealed secret does not open, which no attempt can cure.
alter table delivery add column held_reason text
  constraint delivery_held_reason check (held_reason in ('secret_unreadable'));
create index delivery_unreadable on delivery (webhook_id) where status = 'held' and held_reason is not null;

-- Holds deliveries whose secrets did not open, each with the secrets that its claimer saw. One whose endpoint has others
-- by now is given back instead. Answers the ids that are held.
create function hold_unreadable(rows jsonb) returns text[]
language sql security definer set search_path = flock, pg_temp as $$
  with seen as (
    select r.id, array(select jsonb_array_elements_text(r.sealed)) as sealed from jsonb_to_recordset(rows) r(id text, sealed jsonb)
  ), judged as (
    update delivery d set claimed_until = null,
           status = case when w.sealed_secrets = s.sealed then 'held' else d.status end,
           next_attempt_at = case when w.sealed_secrets = s.sealed then null else d.next_attempt_at end,
           held_reason = case when w.sealed_secrets = s.sealed then 'secret_unreadable' end
      from seen s, webhook w
     where d.id = s.id and d.status in ('pending', 'failed') and w.account_id = d.account_id and w.id = d.webhook_id
    returning d.id, d.status
  )
  select coalesce(array_agg(id), '{}') from judged where status = 'held';
$$;

create function release_unreadable(of_account text, endpoint text) returns bigint
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

-- Other secrets, or an endpoint that is enabled again: what waited for that is due. If they do not open either, it is held
-- again.
create function release_with_secrets() returns trigger language plpgsql as $$
begin
  perform release_unreadable(new.account_id, new.id);
  return null;
end $$;
create trigger webhook_releases_unreadable after update on webhook for each row
  when (new.status = 'enabled' and (new.sealed_secrets is distinct from old.sealed_secrets or old.status <> 'enabled'))
  execute function release_with_secrets();

-- Endpoints with deliveries that are held for their secret, by (account, id), after one.
create function webhooks_with_unreadable(after_account text, after_id text, wanted int)
returns table (account_id text, id text, sealed_secrets text[])
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.id, w.sealed_secrets from webhook w
   where (w.account_id, w.id) > (after_account, after_id) and w.status = 'enabled'
     and exists (select from delivery d where d.webhook_id = w.id and d.status = 'held' and d.held_reason is not null)
   order by w.account_id, w.id limit wanted;
$$;

-- Spec §6: "Replay is possible for 7 days; older events must be reconciled against the chain". Removes deliveries that
-- nothing will be tried of any more, with their attempts, oldest first. What is still to be tried stays however old it
-- is, and so does every publication. Answers how many went.
create function purge_deliveries(older_than timestamptz, most int) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with old as materialized (
    select d.id from delivery d
     where d.id < 'dlv_' || id_prefix_of(older_than) and d.status in ('delivered', 'dead_lettered', 'held')
     order by d.id limit most for update skip locked
  ), tried as (
    delete from attempt a using old o where a.delivery_id = o.id
  ), gone as (
    delete from delivery d using old o where d.id = o.id returning 1
  )
  select count(*) from gone;
$$;

-- Partitions of months that ended before, once they are empty. One that somebody reads just now is the next run's.
create function drop_attempt_partitions(older_than timestamptz) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  name text; used boolean; dropped int := 0;
begin
  perform set_config('lock_timeout', '1s', true);
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'attempt'::regclass and c.relname ~ '^attempt_[0-9]{6}$'
       and right(c.relname, 6) < to_char(older_than at time zone 'UTC', 'YYYYMM')
     order by 1
  loop
    begin
      execute format('select exists (select from %I)', name) into used;
      if not used then
        execute format('drop table %I', name);
        dropped := dropped + 1;
      end if;
    exception when lock_not_available then
      null;
    end;
  end loop;
  return dropped;
end $$;

-- I14, spec §6: "counts recorded, not yet completed publications; a value above zero for longer than seconds means ledger
-- writes proceed while notifications stall". A publication is incomplete without its deliveries, and while one of them is
-- due, was never tried and is in nobody's hands although the account's leader edge is there. An edge that is away is
-- `edge_offline` and no stall of this service.
create or replace function incomplete_publications() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select (select count(*) from publication where completed_at is null)
       + (select count(distinct (d.account_id, d.event_id))
            from (select distinct account_id from edge_session
                   where role = 'leader' and ended_at is null and liveness = 'live') s
            join delivery d on d.account_id = s.account_id and d.status = 'pending' and d.replay = 0
             and d.next_attempt_at <= clock_timestamp()
             and (d.claimed_until is null or d.claimed_until <= clock_timestamp())
            join webhook w on w.account_id = d.account_id and w.id = d.webhook_id and w.status = 'enabled');
$$;

-- Accounts whose smaller band begins. Spec §3.8: "Downgrade: at period end".
create function accounts_with_pending_band(now_at timestamptz, after text, wanted int) returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.account_id from account a
   where a.account_id > after
     and (a.state -> 'pendingBand' ->> 'atMs')::bigint <= floor(extract(epoch from now_at) * 1000)
   order by a.account_id limit wanted;
$$;

grant execute on function
  hold_unreadable, release_unreadable, webhooks_with_unreadable, purge_deliveries, drop_attempt_partitions,
  accounts_with_pending_band
to flock_app;
