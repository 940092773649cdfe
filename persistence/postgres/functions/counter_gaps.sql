-- Counter values between what a block holds and the highest that is in flight which nothing holds, by chain: gaps that
-- the next withdrawal fills. V39. Looks at 10,000 in flight, account by account, and at each of these accounts whole:
-- where there are more, the last one is left out, unless it is the only one.
create or replace function counter_gaps() returns table (chain text, gaps int)
language sql stable security definer set search_path = flock, pg_temp as $$
  with looked as materialized (
    select w.account_id, w.ledger, w.chain, w.from_address, w.unsigned -> 'replayKey' as replay_key
      from withdrawal w where w.status in ('signing', 'broadcast', 'confirming') order by w.account_id limit 10000
  ), bounds as (
    select min(l.account_id) as first, max(l.account_id) as last, count(*) = 10000 as is_cut from looked l
  ), flight as (
    select l.account_id, l.ledger, l.chain, l.from_address, (l.replay_key ->> 'value')::numeric as value
      from looked l, bounds b
     where l.replay_key ->> 'kind' in ('nonce', 'sequence')
       and (not b.is_cut or l.account_id < b.last or l.account_id = b.first)
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
