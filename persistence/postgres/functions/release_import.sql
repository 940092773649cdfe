-- Gives back claims of a batch that is rolled back, or that lost a claim while it was filled: `most` addresses a call.
-- The rows stay for their deposits, under another status. Returns how many; with none left the batch is what it
-- becomes.
create or replace function release_import(of_account text, of_batch text, most int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  ids text[];
begin
  perform 1 from import_batch b where b.account_id = of_account and b.id = of_batch and b.state = 'rolling_back'
      for update;
  if not found then return 0; end if;
  ids := array(select a.id from address a
      where a.account_id = of_account and a.batch_id = of_batch and a.status <> 'released' order by a.id limit most);
  if cardinality(ids) = 0 then
    -- What it had was orphaned: the way back of a next commit is closed by what lands then.
    delete from import_hit h where h.account_id = of_account and h.batch_id = of_batch;
    delete from import_silent s where s.account_id = of_account and s.batch_id = of_batch;
    update import_batch b set state = b.becomes, becomes = null, filled = 0, heights = '{}', committed_at = null
     where b.account_id = of_account and b.id = of_batch;
    return 0;
  end if;
  perform set_config('flock.import_release', of_account, true);
  delete from address_registry g using unnest(ids) i(id) join address a on a.account_id = of_account and a.id = i.id
   where g.address_key = a.address_key and g.account_id = of_account and g.address_id = a.id;
  -- Adopted again they have other ids: the random part of each moves by one letter.
  update import_row r set address_id = left(r.address_id, 16) || translate(substr(r.address_id, 17),
      '234567abcdefghijklmnopqrstuvwxyz', '34567abcdefghijklmnopqrstuvwxyz2')
    from unnest(ids) i(id) join address a on a.account_id = of_account and a.id = i.id
   where r.account_id = of_account and r.batch_id = of_batch and r.address_key = a.address_key
     and r.address_id = a.id;
  update address a set status = 'released' where a.account_id = of_account and a.id = any (ids);
  perform set_config('flock.import_release', '', true);
  update import_batch b set worked_until = clock_timestamp() + interval '45 seconds'
   where b.account_id = of_account and b.id = of_batch;
  return cardinality(ids);
end $$;
grant execute on function release_import to flock_app;
