-- Removes the newest blocks, newest first, and takes their movements back.
create or replace function sandbox_unmine(of_ledger text, depth int) returns setof sandbox_block
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  block sandbox_block;
begin
  perform 1 from sandbox_ledger where ledger = of_ledger for update;
  for block in select * from sandbox_block where ledger = of_ledger order by height desc limit depth loop
    perform sandbox_move(of_ledger, block.transactions, -1);
    delete from sandbox_block where ledger = of_ledger and height = block.height;
    return next block;
  end loop;
  update sandbox_ledger l set behind = true, (height, hash) = (
      select b.height, b.hash from sandbox_block b where b.ledger = of_ledger order by b.height desc limit 1)
   where l.ledger = of_ledger;
end $$;
grant execute on function sandbox_unmine to flock_app;
