-- Whether a member gets into an organization by its provider alone: who has an email of its domains, or came by it
-- once, where that is enforced and the tier has it. A domain whose record is gone lets nobody out. Console A41.
create or replace function sso_required(of_user text, of_organization text) returns boolean
language sql stable security definer set search_path = flock, pg_temp as $$
  select exists (
    select from sso_connection c
      join membership m on m.organization_id = c.organization_id and m.user_id = of_user
      join console_user u on u.id = m.user_id
      join account a on a.organization_id = c.organization_id and a.environment = 'live'
     where c.organization_id = of_organization and c.enforced_at is not null
       and a.state -> 'plan' ->> 'tier' <> 'free'
       and not (m.role = 'owner' and m.break_glass)
       and (exists (select from sso_domain d
                     where d.organization_id = c.organization_id
                       and (d.verified_at is not null or d.lapsed_at is not null)
                       and d.domain = substring(u.email from '[^@]*$'))
            or exists (select from sso_identity i where i.user_id = u.id and i.connection_id = c.id)));
$$;
grant execute on function sso_required to flock_app;
