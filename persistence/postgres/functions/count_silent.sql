-- Counts of silent deposits by batch, chain and status (import_silent): what a deposit was before counts no longer,
-- what it is does. Of a batch that keeps none, and of an address that was released, nothing counts either way; a count
-- that is 0 stays, so that it never refuses an append. Runs as the owner, so that row security hides no batch.
create or replace function count_silent() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.silence is not null then
    update import_silent s set rows = s.rows - 1
      from address a
      join import_batch b on b.account_id = a.account_id and b.id = a.batch_id and b.counts_silent
     where a.account_id = old.account_id and a.id = old.address_id and a.status <> 'released'
       and s.account_id = a.account_id and s.batch_id = a.batch_id and s.chain = old.chain
       and s.silence = old.silence and s.status = old.status and s.rows > 0;
  end if;
  if new.silence is not null then
    insert into import_silent as s (account_id, batch_id, chain, silence, status, rows)
      select a.account_id, a.batch_id, new.chain, new.silence, new.status, 1
        from address a join import_batch b on b.account_id = a.account_id and b.id = a.batch_id and b.counts_silent
       where a.account_id = new.account_id and a.id = new.address_id and a.status <> 'released'
    on conflict (account_id, batch_id, chain, silence, status) do update set rows = s.rows + 1;
  end if;
  return null;
end $$;
