-- A day before wipes begin, to every owner, once.
create or replace function write_wipe_letters(now_at timestamptz) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  select coalesce(sum(write_wipe_letter(w, 'wipe_soon', now_at)), 0)::bigint from wipe w
   where w.status = 'scheduled' and w.scheduled_for > now_at and w.scheduled_for <= now_at + interval '24 hours';
$$;
grant execute on function write_wipe_letters to flock_app;
