-- Withdrawals whose signed versions may still land or be orphaned: those that are under way first, the accounts in turns,
-- each account's oldest first. A thousand that one account left stuck take no place from another account's first one, and a
-- burst of settled ones, kept for the reorg window, none from one that waits for its block.
create or replace function open_withdrawals(of_ledger text, since_height bigint, most int) returns setof withdrawal
language sql stable security definer set search_path = flock, pg_temp as $$
  select (o.open).* from (
    select w as open, w.status in ('confirmed', 'failed') as settled,
           row_number() over (partition by w.account_id, w.status in ('confirmed', 'failed') order by w.created_at, w.id) as turn
      from withdrawal w
     where w.ledger = of_ledger and jsonb_array_length(w.versions) > 0
       and (w.status in ('signing', 'broadcast', 'confirming')
            or (w.status in ('confirmed', 'failed') and w.height >= since_height))) o
   order by o.settled, o.turn, (o.open).created_at, (o.open).id limit most;
$$;
