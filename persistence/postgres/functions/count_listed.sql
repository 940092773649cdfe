-- Keeps `list_count` in the statement that writes the rows, whichever function that is: one row per account of the statement,
-- in the order of accounts.
create or replace function count_listed() returns trigger language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into list_count as c (account_id, list, part, rows)
      select n.account_id, tg_argv[0], 0, count(*) from changed n
       where tg_argv[0] <> 'address' or to_jsonb(n) ->> 'purpose' = 'deposit' group by n.account_id order by n.account_id
    on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  else
    insert into list_count as c (account_id, list, part, rows)
      select n.account_id, tg_argv[0], 1, -count(*) from changed n
       where tg_argv[0] <> 'address' or to_jsonb(n) ->> 'purpose' = 'deposit' group by n.account_id order by n.account_id
    on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  end if;
  return null;
end $$;

-- The triggers and the first counts, once: nothing is written between them. An append of the release before, which names no
-- event for its deliveries, waits here, is refused and is then run again with the function of this release.
do $$
declare
  listed text;
begin
  if exists (select from pg_trigger where tgname = 'address_counted' and tgrelid = 'flock.address'::regclass) then return; end if;
  lock table flock.address, flock.deposit, flock.withdrawal, flock.delivery in share row exclusive mode;
  foreach listed in array '{address,deposit,withdrawal,delivery}'::text[] loop
    execute format('create trigger %I after insert on flock.%I referencing new table as changed
                      for each statement execute function count_listed(%L)', listed || '_counted', listed, listed);
    execute format('create trigger %I after delete on flock.%I referencing old table as changed
                      for each statement execute function count_listed(%L)', listed || '_uncounted', listed, listed);
    execute format('insert into flock.list_count (account_id, list, part, rows) select account_id, %L, 0, count(*) from flock.%I %s group by 1',
                   listed, listed, case listed when 'address' then 'where purpose = ''deposit''' else '' end);
  end loop;
  update flock.delivery d set event = p.event from flock.publication p
   where d.event is null and p.account_id = d.account_id and p.event_id = d.event_id;
  alter table flock.delivery alter column event set not null;
end $$;
