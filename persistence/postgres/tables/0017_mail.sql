-- Mail that must reach a person. It is written by the statement that publishes the event it tells of, so that a crash loses
-- none; it is sent until the transport took it, so that each leaves at least once.

create table mail (
  account_id      text collate "C" not null references account,
  event_id        text collate "C" not null,
  user_id         text collate "C" not null references console_user,
  kind            text not null,
  recipient       text not null,
  -- The event's own body. Nothing of it is secret.
  body            jsonb not null,
  attempts        int  not null default 0,
  next_attempt_at timestamptz,
  claimed_until   timestamptz,
  sent_at         timestamptz,
  last_error      text,
  created_at      timestamptz not null,
  constraint mail_once primary key (event_id, user_id),
  constraint mail_due_until_sent check ((sent_at is null) = (next_attempt_at is not null))
);
create index mail_due on mail (next_attempt_at) where sent_at is null;
create index mail_sent on mail (sent_at) where sent_at is not null;
grant select, delete on mail to flock_app;

-- Every owner of the organization, by the address they sign in with.
create function mail_owners() returns trigger language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into mail (account_id, event_id, user_id, kind, recipient, body, created_at, next_attempt_at)
    select new.account_id, new.event_id, u.id, new.event, u.email, new.body::jsonb, new.created_at, new.created_at
      from account a
      join membership m on m.organization_id = a.organization_id and m.role = 'owner'
      join console_user u on u.id = m.user_id
     where a.account_id = new.account_id;
  return null;
end $$;
create trigger publication_mails_owners after insert on publication for each row
  when (new.event = 'identity_rotation_detected') execute function mail_owners();

-- Mail that is due, oldest first, for one sender until the claim ends.
create function claim_mail(now_at timestamptz, claim_until timestamptz, most int)
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

-- What became of one: sent where `again_at` is null, else tried again then. One that was sent stays sent.
create function record_mail(of_event text, of_user text, at timestamptz, again_at timestamptz, reason text) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update mail set attempts = attempts + 1, claimed_until = null, last_error = reason, next_attempt_at = again_at,
         sent_at = case when again_at is null then at end
   where event_id = of_event and user_id = of_user and sent_at is null;
$$;
grant execute on function claim_mail, record_mail to flock_app;
