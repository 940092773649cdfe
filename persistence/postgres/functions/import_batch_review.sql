-- A batch that becomes `conflict` opens its review. One that leaves it without a decision (a lever of the sandbox puts
-- it back) has none any more.
create or replace function import_batch_review() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  claimed bigint;
begin
  if new.state = 'conflict' then
    select count(*) into claimed from import_row r
     where r.account_id = new.account_id and r.batch_id = new.id
       and r.skip in ('ADDRESS_CONFLICT', 'dropped_by_review');
    insert into import_review (account_id, batch_id, id, conflicts)
      values (new.account_id, new.id, 'rvw' || substr(new.id, 4), claimed)
    on conflict (account_id, batch_id) do update
      set state = 'open', conflicts = excluded.conflicts, opened_at = clock_timestamp(), decided_at = null,
          decided_by = null;
  else
    delete from import_review r where r.account_id = new.account_id and r.batch_id = new.id and r.state = 'open';
  end if;
  return null;
end $$;
