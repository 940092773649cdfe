-- Refuses a row of an account above the most that the trigger names, of those that its condition counts, under a lock
-- of the account for this table: of twenty that come for the last place one has it. The constraint is the trigger.
create or replace function limit_of_account() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  most constant bigint := tg_argv[0];
  found bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended(tg_name || '|' || new.account_id, 0));
  execute format('select count(*) from (select from %I r where r.account_id = $1 and %s limit $2 + 1) c',
                 tg_table_name, tg_argv[1])
    into found using new.account_id, most;
  if found > most then
    raise exception 'an account has at most % rows of %', most, tg_table_name
      using errcode = 'check_violation', constraint = tg_name, table = tg_table_name;
  end if;
  return null;
end $$;
