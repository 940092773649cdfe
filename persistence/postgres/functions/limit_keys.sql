-- Refuses the 51st key of an account that is neither revoked nor expired, counted under a lock of the organization's
-- row: of two that come for the last place one has it.
create or replace function limit_keys() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  found bigint;
begin
  perform 1 from organization o where o.id = new.organization_id for no key update;
  select count(*) into found from api_key k
   where k.account_id = new.account_id and k.revoked_at is null
     and (k.expires_at is null or k.expires_at > clock_timestamp());
  if found > 50 then
    raise exception 'an account has at most 50 live keys'
      using errcode = 'check_violation', constraint = 'api_key_limit', table = 'api_key';
  end if;
  return null;
end $$;
