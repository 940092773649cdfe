-- Links of a ledger are kept for this many heights below its cursor: more than twice any chain's reorg window (G15).
create or replace function links_kept() returns bigint language sql immutable as $$ select 10000::bigint $$;
