-- I14, spec §6: "counts recorded, not yet completed publications; a value above zero for longer than seconds means
-- ledger writes proceed while notifications stall". A publication is incomplete without its deliveries, and while one
-- of them is due, was never tried and is in nobody's hands although the account's leader edge is there. An edge that is
-- away is `edge_offline` and no stall of this service.
create or replace function incomplete_publications() returns bigint
language sql stable security definer set search_path = flock, pg_temp as $$
  select (select count(*) from publication where completed_at is null)
       + (select count(distinct (d.account_id, d.event_id))
            from (select distinct account_id from edge_session
                   where role = 'leader' and ended_at is null and liveness = 'live') s
            join delivery d on d.account_id = s.account_id and d.status = 'pending' and d.replay = 0
             and d.next_attempt_at <= clock_timestamp()
             and (d.claimed_until is null or d.claimed_until <= clock_timestamp())
            join webhook w on w.account_id = d.account_id and w.id = d.webhook_id and w.status = 'enabled');
$$;
grant execute on function incomplete_publications to flock_app;
