-- Adopted addresses are counted when their batch is opened, taken back or reset.
-- Keeps `list_count` in the statement that writes the rows, whichever function that is: one row per account of the
-- statement, in the order of accounts.
create or replace function count_listed() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into list_count as c (account_id, list, part, rows)
      select n.account_id, tg_argv[0], 0, count(*) from changed n
       where tg_argv[0] <> 'address'
          or (to_jsonb(n) ->> 'purpose' = 'deposit' and to_jsonb(n) ->> 'batch_id' is null)
       group by n.account_id order by n.account_id
    on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  else
    insert into list_count as c (account_id, list, part, rows)
      select n.account_id, tg_argv[0], 1, -count(*) from changed n
       where tg_argv[0] <> 'address'
          or (to_jsonb(n) ->> 'purpose' = 'deposit' and to_jsonb(n) ->> 'batch_id' is null)
       group by n.account_id order by n.account_id
    on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  end if;
  return null;
end $$;
