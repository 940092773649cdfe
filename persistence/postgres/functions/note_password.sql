-- Whoever sets a password has one.
create or replace function note_password() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  new.has_password := true;
  return new;
end $$;
