-- Whether a user has to keep a second factor: who owns an organization that has live addresses. Console A21.
create or replace function must_keep_factor(of_user text) returns boolean
language sql stable security definer set search_path = flock, pg_temp as $$
  select exists (
    select from membership m
      join account a on a.organization_id = m.organization_id and a.environment = 'live'
     where m.user_id = of_user and m.role = 'owner' and (a.state ->> 'activeAddresses')::bigint > 0);
$$;
grant execute on function must_keep_factor to flock_app;
