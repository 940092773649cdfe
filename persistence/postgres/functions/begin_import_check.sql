-- A batch is checked anew. Of a live account with `most` conflicts since a moment, each check that is under way counted
-- as one, the next one waits for a decision or for the other checks: how many of its rows other accounts claim is told
-- so often and no oftener (M-T3).
--   begun      waits: nothing changed      not: the batch is in no state for it
create or replace function begin_import_check(of_account text, of_id text, run text, since timestamptz, most int)
returns text language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  under_way int;
  met int;
  is_open boolean;
begin
  if of_account like '%\_live' then
    -- One after the other, so that checks that begin at once see each other.
    perform pg_advisory_xact_lock(hashtextextended('import_check|' || of_account, 0));
    select count(*) into under_way from import_batch b
     where b.account_id = of_account and b.state = 'validating' and b.id <> of_id;
    select count(*), coalesce(bool_or(v.state = 'open'), false) into met, is_open from (
      select r.state from import_review r where r.account_id = of_account and r.opened_at >= since
       order by r.opened_at limit 1000) v;
    if met + under_way >= most and (is_open or under_way > 0) then return 'waits'; end if;
  end if;
  update import_batch b set state = 'validating', dry_run_id = run, dry_run_at = clock_timestamp(),
      is_staged = true,
      worked_until = clock_timestamp() + interval '45 seconds'
   where b.account_id = of_account and b.id = of_id and b.state in ('created', 'valid', 'invalid', 'rolled_back');
  return case when found then 'begun' else 'not' end;
end $$;
grant execute on function begin_import_check to flock_app;
