-- What a node that serves alone says of itself; one of several does so as it joins.
create or replace function describe_node(node text, node_about jsonb) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update cloud_node set about = node_about where id = node;
$$;
grant execute on function describe_node to flock_app;
