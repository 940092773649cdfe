-- Who is no owner gets in by single sign-on like everybody.
create or replace function clear_break_glass() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  new.break_glass := false;
  return new;
end $$;
