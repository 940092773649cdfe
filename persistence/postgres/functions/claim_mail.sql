-- Mail that is due, oldest first, for one sender until the claim ends.
create or replace function claim_mail(now_at timestamptz, claim_until timestamptz, most int)
returns table (event_id text, user_id text, account_id text, organization text, kind text, recipient text, body jsonb,
               attempts int)
language sql security definer set search_path = flock, pg_temp as $$
  with due as materialized (
    select m.event_id, m.user_id from mail m
     where m.sent_at is null and m.next_attempt_at <= now_at and (m.claimed_until is null or m.claimed_until <= now_at)
     order by m.next_attempt_at, m.event_id, m.user_id limit most for update skip locked
  ), claimed as (
    update mail m set claimed_until = claim_until from due d where m.event_id = d.event_id and m.user_id = d.user_id
    returning m.*
  )
  select c.event_id, c.user_id, c.account_id, o.name, c.kind, c.recipient, c.body, c.attempts
    from claimed c join account a on a.account_id = c.account_id join organization o on o.id = a.organization_id
   order by c.created_at, c.event_id, c.user_id;
$$;
grant execute on function claim_mail to flock_app;
