-- Refuses the 201st member of an organization and its 51st open invitation, counted under a lock of the organization's
-- row: of two that come for the last place one has it.
create or replace function limit_people() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  found bigint;
begin
  perform 1 from organization o where o.id = new.organization_id for no key update;
  if tg_table_name = 'membership' then
    select count(*) into found from (
      select from membership m where m.organization_id = new.organization_id limit 201) m;
    if found > 200 then
      raise exception 'an organization has at most 200 members'
        using errcode = 'check_violation', constraint = 'membership_limit', table = 'membership';
    end if;
  else
    select count(*) into found from (
      select from invitation i
       where i.organization_id = new.organization_id and i.ended_at is null and i.expires_at > new.created_at
       limit 51) i;
    if found > 50 then
      raise exception 'an organization has at most 50 open invitations'
        using errcode = 'check_violation', constraint = 'invitation_limit', table = 'invitation';
    end if;
  end if;
  return null;
end $$;
