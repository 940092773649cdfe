-- When by this database's clock at the latest: a caller whose clock is ahead does not make later heads look old. Who noted a head heard a node.
create or replace function note_head(of_ledger text, head_height bigint, seen_at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_head (ledger, height, at, heard_at)
  select of_ledger, head_height, seen.at, seen.at from (select least(seen_at, clock_timestamp()) as at) seen
  on conflict (ledger) do update set height = excluded.height, at = excluded.at, heard_at = greatest(chain_head.heard_at, excluded.heard_at)
    where chain_head.at <= excluded.at;
$$;
grant execute on function note_head to flock_app;
