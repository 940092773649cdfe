-- Refuses the 51st domain of an organization, counted under a lock of the organization's row: of two that come for the
-- last place one has it.
create or replace function limit_domains() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  found bigint;
begin
  perform 1 from organization o where o.id = new.organization_id for no key update;
  select count(*) into found from (
    select from sso_domain d where d.organization_id = new.organization_id limit 51) d;
  if found > 50 then
    raise exception 'an organization has at most 50 domains'
      using errcode = 'check_violation', constraint = 'sso_domain_limit', table = 'sso_domain';
  end if;
  return null;
end $$;
