-- Refuses to take the last second factor from who has to keep one, unless two administrators reset them. What another
-- request takes away at the same time is seen: the look comes after the lock, in a statement of its own.
create or replace function keep_factor() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  whose text := case tg_table_name when 'passkey' then to_jsonb(old) ->> 'user_id' else to_jsonb(old) ->> 'id' end;
begin
  perform 1 from console_user u where u.id = whose for no key update;
  if not exists (select from console_user u where u.id = whose and u.totp_confirmed)
     and not exists (select from passkey p where p.user_id = whose)
     and must_keep_factor(whose) and not factors_are_reset(whose) then
    raise exception 'an owner of an organization with live addresses keeps a second factor'
      using errcode = 'check_violation', constraint = 'factor_kept', table = tg_table_name;
  end if;
  return null;
end $$;
