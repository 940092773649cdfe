-- Says that a base copy that began at an instant is whole. Called by the owner's script of a backup. An older copy than
-- the last one changes nothing. Ecosystem X49, X66.
create or replace function record_backup(began timestamptz) returns void
language sql set search_path = flock, pg_temp as $$
  insert into backup_taken as b (taken_at) values (began)
    on conflict (id) do update set taken_at = greatest(b.taken_at, excluded.taken_at);
$$;
