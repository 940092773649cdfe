-- Removes the bodies of publications of which nothing is delivered or replayed any more; the rows stay, because the
-- books point at them. A page of those with a body, oldest first, after the last one of the page before (null: from the
-- first). Returns how many bodies were removed and the last one looked at, null once there is none.
create or replace function purge_publications(older_than timestamptz, most int, after_at timestamptz, after_seq bigint)
returns table (gone bigint, last_at text, last_seq bigint)
language sql security definer set search_path = flock, pg_temp as $$
  with page as materialized (
    select p.account_id, p.event_id, p.created_at, p.seq from publication p
     where p.body is not null and p.created_at < least(older_than, statement_timestamp() - interval '30 days')
       and (p.created_at, p.seq) > (coalesce(after_at, '-infinity'), coalesce(after_seq, 0))
     order by p.created_at, p.seq limit most
  ), free as materialized (
    select p.account_id, p.event_id from page o join publication p on p.account_id = o.account_id
        and p.event_id = o.event_id
     where not exists (select from delivery d where d.event_id = o.event_id and d.account_id = o.account_id)
       for update of p skip locked
  ), done as (
    update publication p set body = null from free f where p.account_id = f.account_id
        and p.event_id = f.event_id returning 1
  )
  select (select count(*) from done), l.created_at::text, l.seq
    from (select 1) one left join lateral (select o.created_at, o.seq from page o
        order by o.created_at desc, o.seq desc limit 1) l on true;
$$;
grant execute on function purge_publications to flock_app;
