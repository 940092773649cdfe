-- Mail to every owner about a statement: at its issue, when it is due, a week later, and when the subscription lapses
-- (`steps`: kind and hours after the issue), while something is left to pay. A step that is older than a week is passed
-- over, so that mail that was sent and forgotten is not written again. Console B15.
create or replace function write_statement_letters(now_at timestamptz, steps jsonb) returns int
language sql security definer set search_path = flock, pg_temp as $$
  with step as (
    select kind, hours from jsonb_to_recordset(steps) s(kind text, hours int)
  ), due as (
    select s.*, step.kind, s.total_cents - coalesce((select sum(c.amount_cents) from collection c
               where c.account_id = s.account_id and c.statement_id = s.id), 0) as left_cents
      from step
      join statement s on s.issued_at <= now_at - make_interval(hours => step.hours)
                      and s.issued_at > now_at - make_interval(hours => step.hours + 168)
     where s.total_cents > 0
  ), written as (
    insert into mail (account_id, event_id, user_id, kind, recipient, body, created_at, next_attempt_at)
      select d.account_id, d.id || '.' || d.kind, u.id, d.kind, u.email,
             jsonb_build_object('environment', 'live', 'timestamp', d.issued_at, 'data', jsonb_build_object(
               'statementId', d.id, 'number', d.number, 'period', d.period,
               'totalCents', d.total_cents::text, 'leftCents', d.left_cents::text)),
             now_at, now_at
        from due d
        join account a on a.account_id = d.account_id
        join membership m on m.organization_id = a.organization_id and m.role = 'owner'
        join console_user u on u.id = m.user_id
       where d.left_cents > 0
      on conflict on constraint mail_once do nothing
      returning 1)
  select count(*)::int from written;
$$;
grant execute on function write_statement_letters to flock_app;
