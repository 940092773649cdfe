-- unresolved ──▶ done: the content of a height, proven later. Returns null when it is resolved already or the branch
-- was abandoned, else the accounts touched. Its link goes where record_block left it because of that.
create or replace function resolve_height(of_ledger text, record jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  link jsonb := record -> 'link';
  entries jsonb;
begin
  -- The cursor's row orders this against record_block and record_reorg of the same ledger.
  perform 1 from chain_cursor where ledger = of_ledger for update;
  delete from unresolved_height where ledger = of_ledger and height = (link ->> 'height')::bigint
      and hash = link ->> 'hash';
  if not found then return null; end if;
  perform check_withdrawal_facts(of_ledger, record -> 'withdrawals');
  entries := record_transfers(of_ledger, keep_keys(of_ledger, record -> 'transfers')) || (record -> 'withdrawals');
  delete from block_link l using chain_cursor c
   where l.ledger = of_ledger and l.height = (link ->> 'height')::bigint and c.ledger = l.ledger
     and l.height < c.height - links_kept();
  return post_facts(entries || settle_displaced(of_ledger));
end $$;
grant execute on function resolve_height to flock_app;
