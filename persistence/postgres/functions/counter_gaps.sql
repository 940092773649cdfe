-- Counter values between what a block holds and the highest that is in flight which nothing holds, by chain: gaps that
-- the next withdrawal fills. V39.
create or replace function counter_gaps() returns table (chain text, gaps int)
language sql stable security definer set search_path = flock, pg_temp as $$
  with flight as (
    select w.account_id, w.ledger, w.chain, w.from_address, (w.unsigned -> 'replayKey' ->> 'value')::numeric as value
      from withdrawal w
     where w.status in ('signing', 'broadcast', 'confirming')
       and w.unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence')
  ), sender as (
    select f.account_id, f.ledger, f.chain, f.from_address, min(f.value) as lowest, max(f.value) as highest,
        array_agg(distinct f.value) as flights
      from flight f group by 1, 2, 3, 4
  ), reach as (
    select s.*, coalesce((
             select (w.unsigned -> 'replayKey' ->> 'value')::numeric + 1
               from withdrawal w
              where w.account_id = s.account_id and w.ledger = s.ledger and w.from_address = s.from_address
                and w.height is not null and w.unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence')
              order by (w.unsigned -> 'replayKey' ->> 'value')::numeric desc limit 1), s.lowest) as first
      from sender s
  )
  select r.chain, sum(greatest(r.highest - r.first + 1 - (select count(*) from unnest(r.flights) v
      where v >= r.first), 0))::int
    from reach r group by 1;
$$;
grant execute on function counter_gaps to flock_app;
