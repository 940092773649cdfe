-- A node becomes one of the cluster. `proofs` are codes of the cluster's name under each secret of the node, the one
-- that it signs with first: without a common one nothing is written and `accepted` is false. The first proof is kept,
-- so that a secret is replaced by starting the nodes one by one with both. Rows of nodes that are gone for a day, and
-- own nothing, are removed.
create or replace function join_cluster(node text, node_url text, node_about jsonb, proofs text[])
returns table (accepted boolean, database_at timestamptz)
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  update cluster c set proof = proofs[1] where c.proof is null or c.proof = any (proofs);
  if not found then
    return query select false, clock_timestamp();
    return;
  end if;
  insert into cloud_node as n (id, url, about) values (node, node_url, node_about)
    on conflict (id) do update set url = node_url, about = node_about, seen_at = clock_timestamp(), left_at = null;
  delete from cloud_node n where n.id <> node and n.seen_at < clock_timestamp() - interval '1 day'
     and not exists (select 1 from shard s where s.owner = n.id)
     and not exists (select 1 from chain_follower f where f.owner = n.id);
  return query select true, clock_timestamp();
end $$;
grant execute on function join_cluster to flock_app;
