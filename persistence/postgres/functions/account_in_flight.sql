-- What an account has on its way, from its rows: the part of its state that grows with use and is in no snapshot. A
-- build that did not change since `builds_after` is dead and holds nothing; of a sender with a counter a build holds a
-- value once it is bound. `next` is 0 where the sender has a counter: values in flight are skipped, and each build
-- brings the value that the chain would take. Of two that hold one value the newest has it.
create or replace function account_in_flight(wanted text, builds_after timestamptz) returns jsonb
language sql stable set search_path = flock, pg_temp as $$
  with open_row as materialized (
    select w.id, w.kind as of_kind, w.status, w.chain || ':' || w.from_address as key, w.updated_at,
        w.unsigned -> 'replayKey' as replay, true as is_bound
      from withdrawal w where w.account_id = wanted and w.status in ('signing', 'broadcast', 'confirming')
    union all
    select w.id, w.kind, w.status, w.chain || ':' || w.from_address, w.updated_at, w.unsigned -> 'replayKey',
        w.unsigned ? 'boundAtMs'
      from withdrawal w where w.account_id = wanted and w.status = 'built' and w.updated_at > builds_after
  ), held as (
    select o.key, o.updated_at, o.replay ->> 'kind' as kind, v.value,
           jsonb_build_object('id', o.id, 'stage',
             case o.status when 'built' then 'built' when 'confirming' then 'included' else 'signed' end) as flight
      from open_row o
     cross join lateral jsonb_array_elements_text(
             case o.replay ->> 'kind' when 'outpoints' then o.replay -> 'value' when 'expiry' then '[]'
               else case when o.status = 'built' and not o.is_bound then '[]'
                   else jsonb_build_array(o.replay -> 'value') end end) v(value)
     where v.value is not null
  ), counter as (
    select h.key, jsonb_build_object(
             'next', case when bool_and(h.kind <> 'outpoints') then '0' end, 'free', '[]'::jsonb,
             'inFlight', jsonb_object_agg(h.value, h.flight order by h.updated_at)) as counter
      from held h group by h.key
  )
  select jsonb_build_object(
    'counters', coalesce((select jsonb_object_agg(c.key, c.counter) from counter c), '{}'),
    'withdrawals', coalesce((select jsonb_object_agg(o.id, round(extract(epoch from o.updated_at) * 1000)::bigint)
        from open_row o), '{}'),
    -- A sweep is never billed: it counts against no limit.
    'signed', coalesce((select jsonb_object_agg(o.id, true) from open_row o
        where o.status <> 'built' and o.of_kind = 'withdrawal'), '{}'),
    -- Billed when it was confirmed, and open again: a reorg took it out of the chain. One that failed after that is
    -- billed no more.
    'reopened', coalesce((
      select jsonb_agg(o.id order by o.id) from open_row o
       where o.status <> 'built'
         and exists (select from billable b where b.account_id = wanted and b.withdrawal_id = o.id)
         and coalesce((select c.change from billable_change c
               where c.account_id = wanted and c.withdrawal_id = o.id
               order by c.account_id desc, c.withdrawal_id desc, c.nth desc limit 1), 1) > 0), '[]'));
$$;
