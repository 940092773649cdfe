-- Ends what staff still reads of an organization that allows it no more: in a statement after the lock of the consent,
-- so that a session which began while it was taken back is seen.
create or replace function end_support_sessions() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  update support_session s set ended_at = clock_timestamp()
   where s.organization_id = old.organization_id and s.ended_at is null and s.ends_at > clock_timestamp();
  return null;
end $$;
