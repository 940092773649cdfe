create or replace function accounts_with_inbox(older_than timestamptz, most int) returns setof text
language sql stable security definer set search_path = flock, pg_temp as $$
  select distinct account_id from (
    select account_id from inbox i
     where created_at < older_than and (retry_at is null or retry_at <= clock_timestamp()) and not exists (
       select from inbox b where b.account_id = i.account_id and b.subject = i.subject and b.id < i.id
          and b.retry_at > clock_timestamp())
     order by created_at limit most * 20) oldest limit most;
$$;
grant execute on function accounts_with_inbox to flock_app;
