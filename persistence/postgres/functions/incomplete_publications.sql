-- I14, spec §6: "counts recorded, not yet completed publications; a value above zero for longer than seconds means
-- ledger writes proceed while notifications stall". A publication is incomplete without its deliveries, and while one
-- of them is due, was never tried and is in nobody's hands although the account's leader edge is there. An edge that is
-- away is `edge_offline` and no stall of this service. At most 10,000 of each kind
-- are counted, however many wait.
create or replace function incomplete_publications() returns bigint
language sql stable security definer set search_path = flock, pg_temp set enable_hashjoin = off
set enable_mergejoin = off set enable_sort = off as $$
  select (select count(*) from (select from publication where completed_at is null limit 10000) p)
       + (select count(distinct (d.account_id, d.event_id)) from (
           select o.account_id, o.event_id
             from (select distinct account_id from edge_session
                    where role = 'leader' and ended_at is null and liveness = 'live') s
            cross join lateral (select w.account_id, w.id from webhook w
                where w.account_id = s.account_id and w.status = 'enabled' offset 0) w
            cross join lateral (select o.account_id, o.event_id from delivery o
                where o.webhook_id = w.id and o.account_id = w.account_id and o.status = 'pending' and o.replay = 0
                  and o.next_attempt_at <= clock_timestamp()
                  and (o.claimed_until is null or o.claimed_until <= clock_timestamp())
                order by o.order_key, o.seq limit 10000) o
            limit 10000) d);
$$;
grant execute on function incomplete_publications to flock_app;
