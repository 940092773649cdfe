-- Deletes the recovery codes that were there before the ones just made: also those that another request made meanwhile,
-- which held the user's row until it was done. Each statement makes the codes of one user.
create or replace function replace_recovery_codes() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  delete from recovery_code r
   where r.user_id = any (array(select m.user_id from made m))
     and not exists (select from made m where m.user_id = r.user_id and m.hash = r.hash);
  return null;
end $$;
