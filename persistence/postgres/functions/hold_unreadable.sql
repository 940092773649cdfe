-- Holds deliveries whose secrets did not open, each with the secrets that its claimer saw: pending, failed ──▶ held,
-- with `held_reason`. One whose endpoint has other secrets by now is given back instead. The endpoint is locked first:
-- secrets that are being replaced are waited for, and those that come later find what is held here. Returns the ids
-- that are held.
create or replace function hold_unreadable(rows jsonb) returns text[]
language sql security definer set search_path = flock, pg_temp as $$
  with seen as materialized (
    select r.id, array(select jsonb_array_elements_text(r.sealed)) as sealed, d.account_id, d.webhook_id
      from jsonb_to_recordset(rows) r(id text, sealed jsonb) cross join lateral (
        select o.account_id, o.webhook_id from delivery o where o.id = r.id offset 0) d
  ), endpoint as materialized (
    select w.account_id, w.id, w.sealed_secrets from webhook w
     where (w.account_id, w.id) in (select s.account_id, s.webhook_id from seen s)
     order by w.account_id, w.id for share
  ), mine as materialized (
    select d.id, e.sealed_secrets = s.sealed as unreadable
      from seen s join endpoint e on e.account_id = s.account_id and e.id = s.webhook_id
      join delivery d on d.id = s.id
     where d.status in ('pending', 'failed')
     order by d.id for update of d
  ), judged as (
    update delivery d set claimed_until = null,
           status = case when m.unreadable then 'held' else d.status end,
           next_attempt_at = case when m.unreadable then null else d.next_attempt_at end,
           held_reason = case when m.unreadable then 'secret_unreadable' end
      from mine m where d.id = m.id
    returning d.id, d.status
  )
  select coalesce(array_agg(id), '{}') from judged where status = 'held';
$$;
grant execute on function hold_unreadable to flock_app;
