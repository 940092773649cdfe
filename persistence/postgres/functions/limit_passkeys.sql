-- Refuses the 21st passkey of a user, counted under a lock of the user's row: of two that come for the last place one
-- has it.
create or replace function limit_passkeys() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  found bigint;
begin
  perform 1 from console_user u where u.id = new.user_id for no key update;
  select count(*) into found from passkey p where p.user_id = new.user_id;
  if found > 20 then
    raise exception 'a user has at most 20 passkeys'
      using errcode = 'check_violation', constraint = 'passkey_limit', table = 'passkey';
  end if;
  return null;
end $$;
