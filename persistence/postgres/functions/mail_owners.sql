-- Every owner of the organization, by the address they sign in with.
create or replace function mail_owners() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into mail (account_id, event_id, user_id, kind, recipient, body, created_at, next_attempt_at)
    select new.account_id, new.event_id, u.id, new.event, u.email, new.body::jsonb, new.created_at,
        least(new.created_at, clock_timestamp())
      from account a
      join membership m on m.organization_id = a.organization_id and m.role = 'owner'
      join console_user u on u.id = m.user_id
     where a.account_id = new.account_id;
  return null;
end $$;
