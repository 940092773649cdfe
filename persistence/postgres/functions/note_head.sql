-- Records the head that a node reported, and that it answered; by this database's clock at the latest, so that a caller
-- whose clock is ahead does not make later heads look old. A height above the known one by more than 1,000 blocks and
-- ten times what the quickest chain (400 ms) can have mined since is no head and changes nothing; the watcher's own
-- bound is narrower. A node that synced meanwhile is measured by the time of our newest block. Simulated ledgers mine
-- by order.
create or replace function note_head(of_ledger text, head_height bigint, seen_at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_head (ledger, height, at, heard_at)
  select of_ledger, head_height, seen.at, seen.at from (select least(seen_at, clock_timestamp()) as at) seen
   where head_height <= 9007199254740991
  on conflict (ledger) do update set height = excluded.height, at = excluded.at,
      heard_at = greatest(chain_head.heard_at, excluded.heard_at)
    where chain_head.at <= excluded.at
      and (excluded.height <= chain_head.height + 1000 or strpos(of_ledger, '@') > 0
           or excluded.height <= (
             select greatest(chain_head.height, max(c.height)) + 1000
                    + floor(extract(epoch from excluded.at - least(chain_head.at, max(l.time))) * 25)
               from chain_cursor c left join block_link l on l.ledger = c.ledger and l.height = c.height
                   and not l.orphaned
              where c.ledger = of_ledger));
$$;
grant execute on function note_head to flock_app;
