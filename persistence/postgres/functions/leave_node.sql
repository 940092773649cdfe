-- A node that stops: its shards are vacant at once (shard_is_vacant).
create or replace function leave_node(node text) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update cloud_node set left_at = clock_timestamp() where id = node;
$$;
grant execute on function leave_node to flock_app;
