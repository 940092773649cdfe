-- Reviews whose contract nobody has read, each for one caller, with an account that asked for it. One that was not
-- read is due again after `again_ms`.
create or replace function take_unread_reviews(again_ms int, most int)
returns table (review_id text, asked_by text)
language sql set search_path = flock, pg_temp as $$
  with due as materialized (
    select id from token_review
     where facts is null and state = 'under_review' and next_read_at <= clock_timestamp()
     order by next_read_at limit most for update skip locked
  ), taken as (
    update token_review v set next_read_at = clock_timestamp() + again_ms * interval '1 millisecond'
      from due where v.id = due.id returning v.id
  )
  select t.id, r.account_id from taken t cross join lateral (
    select account_id from token_request where review_id = t.id order by id limit 1) r;
$$;
grant execute on function take_unread_reviews to flock_app;
