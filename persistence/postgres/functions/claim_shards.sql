-- Takes shards for a node, from any owner: each gets a new epoch, in the order of their ids.
create or replace function claim_shards(node text, shards int[]) returns table (shard_id int, shard_epoch bigint)
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into cloud_node as n (id) values (node)
    on conflict (id) do update set seen_at = clock_timestamp(), left_at = null;
  delete from cloud_node n where n.id <> node and n.seen_at < clock_timestamp() - interval '1 day'
     and not exists (select 1 from shard s where s.owner = n.id);
  return query
    with wanted as materialized (select id from shard where id = any (shards) order by id for no key update)
    update shard s set epoch = s.epoch + 1, owner = node, claimed_at = clock_timestamp()
      from wanted w where s.id = w.id
    returning s.id, s.epoch;
end $$;
grant execute on function claim_shards to flock_app;
