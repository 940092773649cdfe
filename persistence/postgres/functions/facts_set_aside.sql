-- Facts that their accounts could not take, over all accounts, oldest first, for operators. What waits behind each is
-- counted to 100: behind one of a busy address there may be a million.
create or replace function facts_set_aside(after_id bigint, wanted int)
returns table (id bigint, account_id text, subject text, fact jsonb, tries int, trouble text, created_at timestamptz,
               retry_at timestamptz, behind bigint)
language sql stable security definer set search_path = flock, pg_temp as $$
  select i.id, i.account_id, i.subject, i.fact, i.tries, i.trouble, i.created_at, i.retry_at,
         (select count(*) from (
            select from inbox b
             where b.account_id = i.account_id and b.subject = i.subject and b.id > i.id limit 100) b)
    from inbox i where i.retry_at is not null and i.id > after_id order by i.id limit wanted;
$$;
grant execute on function facts_set_aside to flock_app;
