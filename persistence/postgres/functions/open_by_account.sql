-- Withdrawals under way on a ledger whose signed versions may land: of each account behind `after_account`, in their
-- order, its `each` oldest, `most` in all. Accounts are stepped through by the index, so that no more is read than is
-- answered, however many there are.
create or replace function open_by_account(of_ledger text, after_account text, each int, most int)
returns setof withdrawal language sql stable security definer set search_path = flock, pg_temp
set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off as $$
  with recursive sender as (
    (select w.account_id from withdrawal w
      where w.ledger = of_ledger and w.status in ('signing', 'broadcast', 'confirming') and w.account_id > after_account
      order by w.account_id limit 1)
    union all
    select n.account_id from sender s cross join lateral (
      select w.account_id from withdrawal w
       where w.ledger = of_ledger and w.status in ('signing', 'broadcast', 'confirming') and w.account_id > s.account_id
       order by w.account_id limit 1) n
  )
  select o.* from sender s cross join lateral (
    select w.* from withdrawal w
     where w.ledger = of_ledger and w.account_id = s.account_id and w.status in ('signing', 'broadcast', 'confirming')
       and jsonb_array_length(w.versions) > 0
     order by w.created_at, w.id limit each) o
   limit most;
$$;
grant execute on function open_by_account to flock_app;
