-- Refuses the 11th organization that a person creates, counted under a lock of the person's row: of two that come for
-- the last place one has it.
create or replace function limit_organizations() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  found bigint;
begin
  perform 1 from console_user u where u.id = new.created_by for no key update;
  select count(*) into found from (
    select from organization o where o.created_by = new.created_by limit 11) o;
  if found > 10 then
    raise exception 'a user creates at most 10 organizations'
      using errcode = 'check_violation', constraint = 'organization_limit', table = 'organization';
  end if;
  return null;
end $$;
