-- For nodes of an earlier release: its work grows with all that is under way.
--
-- Withdrawals whose signed versions may still land or be orphaned: those under way first, then what is settled in the
-- reorg window (from `since_height`). Accounts take turns, each with its oldest first: a thousand that one account left
-- stuck take no place from another account's first one. The first `stepped_over` of this order are left out: looks
-- before had them. Turns are found from keys alone; only the rows that are returned are read whole.
create or replace function open_withdrawals(of_ledger text, since_height bigint, most int, stepped_over int default 0)
returns setof withdrawal
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.* from (
    select w.account_id, w.id, w.created_at, w.status in ('confirmed', 'failed') as settled,
           row_number() over (partition by w.account_id, w.status in ('confirmed', 'failed')
               order by w.created_at, w.id) as turn
      from withdrawal w
     where w.ledger = of_ledger and jsonb_array_length(w.versions) > 0
       and (w.status in ('signing', 'broadcast', 'confirming')
            or (w.status in ('confirmed', 'failed') and w.height >= since_height))
     order by settled, turn, w.created_at, w.id limit most offset stepped_over) o
    join withdrawal w using (account_id, id)
   order by o.settled, o.turn, o.created_at, o.id;
$$;
grant execute on function open_withdrawals to flock_app;
