-- Ends the claims on accounts of those of the shards that `node` owns. The node that takes shards does this at once,
-- instead of waiting for claims to end: a cloud that was killed between a claim and its report goes on within seconds.
-- Only what was claimed while `node` was the owner ends: a node that was frozen meanwhile takes nothing from the next
-- owner. `node` null: whoever the owner is. One step of a walk over the endpoints and, of each, over what is due: at
-- most `looked_most` endpoints and as many deliveries, whatever the tables hold. Goes on after (`after_account`,
-- `after_endpoint`) or, where `after_at` is given, within that endpoint. Returns how many claims ended and where the
-- next step goes on; `last_account` is null at the end.
create or replace function release_former_claims(node text, shards int[], looked_most int, after_account text,
    after_endpoint text, after_at timestamptz, after_seq bigint)
returns table (released bigint, last_account text, last_endpoint text, last_at text, last_seq text)
language plpgsql security definer set search_path = flock, pg_temp set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  one record;
  page record;
  found_ids text[] := '{}';
  found_ends timestamptz[] := '{}';
  endpoints int := 0;
  room int := looked_most;
begin
  for one in
    select w.account_id, w.id, (w.account_id, w.id) = (after_account, after_endpoint) as is_begun, w.shard_id
      from (
        select o.account_id, o.id, (select a.shard_id from account a where a.account_id = o.account_id) as shard_id
          from webhook o
         where case when after_at is null then (o.account_id, o.id) > (after_account, after_endpoint)
               else (o.account_id, o.id) >= (after_account, after_endpoint) end
           and (o.account_id, o.id) >= (after_account, after_endpoint)
         order by o.account_id, o.id limit looked_most) w
     order by w.account_id, w.id
  loop
    endpoints := endpoints + 1;
    last_account := one.account_id;
    last_endpoint := one.id;
    last_at := null;
    last_seq := null;
    continue when one.shard_id <> all (shards);
    -- The owner and the claims as they were at one moment.
    select coalesce(array_agg(d.id) filter (where d.is_claimed), '{}') as ids,
           coalesce(array_agg(d.claimed_until) filter (where d.is_claimed), '{}') as ends, count(*) as looked,
           (array_agg(d.next_attempt_at order by d.next_attempt_at desc, d.seq desc))[1] as at,
           (array_agg(d.seq order by d.next_attempt_at desc, d.seq desc))[1] as seq
      into page from (
        select o.id, o.next_attempt_at, o.seq, o.claimed_until, o.claimed_until is not null and (node is null
               or exists (select from shard s where s.id = one.shard_id and s.owner = node)) as is_claimed
          from delivery o
         where o.webhook_id = one.id and o.account_id = one.account_id and o.next_attempt_at is not null
           and (o.next_attempt_at, o.seq) > (case when one.is_begun then after_at else '-infinity' end,
               case when one.is_begun then after_seq else 0 end)
         order by o.next_attempt_at, o.seq limit room) d;
    found_ids := found_ids || page.ids;
    found_ends := found_ends || page.ends;
    if page.looked = room then
      last_at := page.at::text;
      last_seq := page.seq::text;
      room := 0;
      exit;
    end if;
    room := room - page.looked;
  end loop;
  if room > 0 and endpoints < looked_most then
    last_account := null;
  end if;
  with locked as materialized (
    select d.id from unnest(found_ids, found_ends) f(id, ends) join delivery d on d.id = f.id
     where d.claimed_until = f.ends and d.status in ('pending', 'failed') order by d.id for update of d
  )
  update delivery d set claimed_until = null from locked l where d.id = l.id;
  get diagnostics released = row_count;
  return next;
end $$;
grant execute on function release_former_claims to flock_app;
