-- Withdrawals under way on a ledger, of some accounts in the order in which they are named: of each the `each` oldest
-- behind a place of its own, `most` in all. Accounts that had many took a turn before.
create or replace function open_after(of_ledger text, accounts text[], ats timestamptz[], ids text[], each int,
                                      most int)
returns setof withdrawal language sql stable security definer set search_path = flock, pg_temp
set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off as $$
  select o.* from unnest(accounts, ats, ids) p(account_id, at, id) cross join lateral (
    select w.* from withdrawal w
     where w.ledger = of_ledger and w.account_id = p.account_id and w.status in ('signing', 'broadcast', 'confirming')
       and (w.created_at, w.id) > (p.at, p.id) and jsonb_array_length(w.versions) > 0
     order by w.created_at, w.id limit each) o
   limit most;
$$;
grant execute on function open_after to flock_app;
