-- held for a project ──▶ pending, or failed where it was tried before, due now: a page of what waited while a project
-- was in observe, oldest first, once it is active again (migration M-O6). Of an endpoint that is not enabled it stays
-- held, and waits for no project any more. What comes after it in its lane is not claimed before it (claim_in_order).
-- A project goes on for a minute, longer than any statement may run: a claim that saw it in observe may hold what it
-- found after the last page. Returns how many it moved, or null when no project resumes.
create or replace function resume_held(most int) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  one migration_project;
  moved bigint;
begin
  select * into one from migration_project p where (p.holds or p.resumes is not null) and p.resumes is not null
   order by random() limit 1 for no key update skip locked;
  if not found then return null; end if;
  with page as materialized (
    select d.id, d.webhook_id from delivery d
     where d.account_id = one.account_id and d.held_for = one.id
     order by d.account_id, d.held_for, d.seq limit most for update of d
  )
  update delivery d set held_for = null,
      status = case when w.status <> 'enabled' then 'held' when d.attempts = 0 then 'pending' else 'failed' end,
      next_attempt_at = case when w.status = 'enabled' then clock_timestamp() end
    from page p join webhook w on w.account_id = one.account_id and w.id = p.webhook_id
   where d.id = p.id;
  get diagnostics moved = row_count;
  if moved < most and one.resumes < clock_timestamp() - interval '1 minute' then
    update migration_project p set resumes = null where p.account_id = one.account_id and p.id = one.id;
  end if;
  return moved;
end $$;
grant execute on function resume_held to flock_app;
