-- The heartbeat of a node of a cluster, which is renew_node, and what it must know of the others: `map_version` rises
-- whenever a shard or a chain changes its owner; `members` are the nodes that neither left nor were silent for the
-- lease.
create or replace function beat_node(node text, lease_seconds int)
returns table (owned int, map_version bigint, members jsonb)
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  renewed record;
begin
  select * into renewed from renew_node(node, lease_seconds);
  return query
    select renewed.owned,
           ((select sum(s.epoch) from shard s) + (select coalesce(sum(f.epoch), 0) from chain_follower f))::bigint,
           (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'url', n.url, 'about', n.about,
                'sinceMs', (extract(epoch from n.started_at) * 1000)::bigint) order by n.id), '[]')
              from cloud_node n
             where n.left_at is null and n.seen_at > clock_timestamp() - make_interval(secs => lease_seconds));
end $$;
grant execute on function beat_node to flock_app;
