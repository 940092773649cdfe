-- Revokes the open invitations of somebody who is no owner any more.
create or replace function end_invitations() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.role = 'owner' then
    return null;
  end if;
  update invitation i set ended_at = clock_timestamp(), why = 'revoked'
   where i.invited_by = old.user_id and i.organization_id = old.organization_id and i.ended_at is null;
  return null;
end $$;
