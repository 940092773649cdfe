-- Moves the cursor of a ledger to the next block and records what is in it, once. Returns null when another watcher
-- moved the cursor first, or read blocks with a later version of the token registry than this one, else the accounts
-- touched. G7, I8; treasury K12.
--   not followed ──content proven──▶ done      not followed ──content not proven──▶ unresolved ──resolve_height──▶ done
-- Links that leave the 10,000 newest heights are removed, but for those that are unresolved: resolve_height removes
-- these.
create or replace function record_block(of_ledger text, record jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  link jsonb := record -> 'link';
  previous jsonb := nullif(record -> 'previous', 'null');
  of_registry int := coalesce((record ->> 'registry')::int, 1);
  former chain_cursor;
begin
  perform check_link(of_ledger, link, previous);
  if previous is null then
    insert into chain_cursor (ledger, height, hash, registry)
      values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash', of_registry) on conflict do nothing;
    if not found then return null; end if;
    perform record_link(of_ledger, link);
  else
    select * into former from chain_cursor where ledger = of_ledger and height = (previous ->> 'height')::bigint
       and hash = previous ->> 'hash' and coalesce(registry, 1) <= of_registry for update;
    if not found then return null; end if;
    perform record_link(of_ledger, link);
    update chain_cursor set height = (link ->> 'height')::bigint, hash = link ->> 'hash', registry = of_registry
     where ledger = of_ledger;
    perform note_registry(of_ledger, former.registry, of_registry, (link ->> 'height')::bigint);
  end if;
  -- What left them with this block, and with a few before it: a reorganization may have moved the cursor.
  delete from block_link l where l.ledger = of_ledger and l.height < (link ->> 'height')::bigint - links_kept()
     and l.height >= (coalesce(previous, link) ->> 'height')::bigint - links_kept() - 100
     and not exists (select 1 from unresolved_height u where u.ledger = l.ledger and u.height = l.height);
  if record ->> 'unresolved' is not null then
    perform record_unresolved(of_ledger, link, record ->> 'unresolved');
  end if;
  perform check_withdrawal_facts(of_ledger, record -> 'withdrawals');
  return post_facts(record_transfers(of_ledger, keep_keys(of_ledger, record -> 'transfers'))
      || (record -> 'withdrawals'));
end $$;
grant execute on function record_block to flock_app;
