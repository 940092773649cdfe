-- An endpoint that got other secrets or is enabled again: what waited for that is due. If the new secrets do not open
-- either, it is held again.
create or replace function release_with_secrets() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  perform release_unreadable(new.account_id, new.id);
  return null;
end $$;
