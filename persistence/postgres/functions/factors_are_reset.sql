-- Whether this transaction carries a reset of the user's factors out. Console A25.
create or replace function factors_are_reset(of_user text) returns boolean
language sql stable security definer set search_path = flock, pg_temp as $$
  select exists (select from factor_reset r where r.ended_in = pg_current_xact_id() and r.user_id = of_user);
$$;
