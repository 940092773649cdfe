-- Refuses what would leave an organization that enforces single sign-on without an owner who gets in by password and
-- factor. The connections of all organizations that may be concerned are locked, and looked at in a statement after the
-- lock: what another request takes away, or enforces, at the same time is seen. Factors that two administrators reset
-- are let go: who has their password gets in, and sets up others.
create or replace function keep_break_glass() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  changed jsonb := case when tg_op = 'INSERT' then to_jsonb(new) else to_jsonb(old) end;
  whose text := case tg_table_name when 'console_user' then changed ->> 'id' else changed ->> 'user_id' end;
  concerned text[] := case when tg_table_name in ('membership', 'sso_connection')
    then array[changed ->> 'organization_id']
    else array(select m.organization_id from membership m where m.user_id = whose and m.role = 'owner') end;
begin
  if tg_table_name in ('console_user', 'passkey') and factors_are_reset(whose) then
    return null;
  end if;
  perform 1 from sso_connection c where c.organization_id = any(concerned) order by c.organization_id for no key update;
  if exists (
    select from sso_connection c
     where c.organization_id = any(concerned) and c.enforced_at is not null
       and not exists (
         select from membership m join console_user u on u.id = m.user_id
          where m.organization_id = c.organization_id and m.role = 'owner' and m.break_glass and u.has_password
            and (u.totp_confirmed or exists (select from passkey p where p.user_id = u.id)))) then
    raise exception 'an organization that enforces single sign-on keeps an owner who gets in without it'
      using errcode = 'check_violation', constraint = 'break_glass_kept', table = tg_table_name;
  end if;
  return null;
end $$;
