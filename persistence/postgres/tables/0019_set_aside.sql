-- Facts that an account could not take: the decision threw, or the schema must never hold what it decided. Such a fact
-- keeps its place in the inbox, is tried again after a pause that doubles, and holds up only the later facts of its own
-- subject. Nothing is deleted; an operator sees them and may have them tried at once.

alter table inbox
  add column tries    int not null default 0,
  add column retry_at timestamptz,
  add column trouble  text,
  add constraint inbox_trouble check ((retry_at is null) = (trouble is null) and (tries > 0) = (trouble is not null));
create index inbox_set_aside on inbox (account_id, subject, id) where retry_at is not null;

-- Sets a fact aside: 5 s, then twice as long after each try, at most an hour. Answers the number of tries, null when it
-- was taken meanwhile.
create function set_aside_fact(of_account text, fact_id bigint, why text) returns int
language sql security definer set search_path = flock, pg_temp as $$
  update inbox set tries = tries + 1, trouble = why,
         retry_at = clock_timestamp() + least(interval '1 hour', interval '5 seconds' * 2 ^ least(tries, 20))
   where id = fact_id and account_id = of_account
  returning tries;
$$;

-- What was set aside over all accounts, oldest first, for operators.
create function facts_set_aside(after_id bigint, wanted int)
returns table (id bigint, account_id text, subject text, fact jsonb, tries int, trouble text, created_at timestamptz,
               retry_at timestamptz, behind bigint)
language sql stable security definer set search_path = flock, pg_temp as $$
  select i.id, i.account_id, i.subject, i.fact, i.tries, i.trouble, i.created_at, i.retry_at,
         (select count(*) from inbox b where b.account_id = i.account_id and b.subject = i.subject and b.id > i.id)
    from inbox i where i.retry_at is not null and i.id > after_id order by i.id limit wanted;
$$;

create function count_facts_set_aside() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select count(*) from inbox where retry_at is not null;
$$;

-- Makes facts due: one, or all of an account, or all. Answers the accounts to wake.
create function retry_facts(of_account text, fact_id bigint) returns setof text
language sql security definer set search_path = flock, pg_temp as $$
  with due as (
    update inbox set retry_at = clock_timestamp()
     where retry_at is not null and (of_account is null or account_id = of_account) and (fact_id is null or id = fact_id)
    returning account_id)
  select distinct account_id from due;
$$;

create or replace function accounts_with_inbox(older_than timestamptz, most int) returns setof text
language sql stable security definer set search_path = flock, pg_temp as $$
  select distinct account_id from (
    select account_id from inbox i
     where created_at < older_than and (retry_at is null or retry_at <= clock_timestamp()) and not exists (
       select from inbox b where b.account_id = i.account_id and b.subject = i.subject and b.id < i.id
          and b.retry_at > clock_timestamp())
     order by created_at limit most * 20) oldest limit most;
$$;

grant execute on function set_aside_fact, facts_set_aside, count_facts_set_aside, retry_facts to flock_app;
