-- Refuses what would leave an organization without an owner.
create or replace function keep_owner() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if old.role <> 'owner' then
    return null;
  end if;
  perform 1 from organization o where o.id = old.organization_id for no key update;
  if not exists (select from membership m where m.organization_id = old.organization_id and m.role = 'owner') then
    raise exception 'an organization keeps an owner'
      using errcode = 'check_violation', constraint = 'organization_has_owner', table = 'membership';
  end if;
  return null;
end $$;
