-- The part of an append that is about imports: a batch is reserved for its commit, opened, or taken back, and a project
-- is cut over. What is not as the decision was told is refused: `import_state`, `import_rollback_closed`.
create or replace function append_imports(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  one jsonb;
begin
  for one in select value from jsonb_array_elements(coalesce(batch -> 'imports_reserved', '[]')) loop
    -- From its first address on: one that received before it was open counts too.
    update import_batch b set state = 'committing', heights = one -> 'heights', filled = 0, counts_silent = true,
        worked_until = clock_timestamp() + interval '45 seconds'
     where b.account_id = one ->> 'account_id' and b.id = one ->> 'id' and b.state = 'valid'
       and b.dry_run_id = one ->> 'dry_run_id' and b.adopting = (one ->> 'adopting')::bigint
       and exists (select from migration_project p where p.account_id = b.account_id and p.id = b.project_id
                      and p.state <> 'active');
    perform import_moved(found);
  end loop;
  for one in select value from jsonb_array_elements(coalesce(batch -> 'imports_opened', '[]')) loop
    update import_batch b set state = 'committed', committed_at = clock_timestamp() + ahead_of(b.account_id)
     where b.account_id = one ->> 'account_id' and b.id = one ->> 'id' and b.state = 'committing' and not exists (
       select from import_row r where r.account_id = b.account_id and r.batch_id = b.id and r.n > b.filled);
    perform import_moved(found);
    update migration_project p set state = 'observe' from import_batch b
     where b.account_id = one ->> 'account_id' and b.id = one ->> 'id'
       and p.account_id = b.account_id and p.id = b.project_id and p.state = 'draft';
    insert into import_catch_up (ledger, account_id, batch_id, chain, next_height)
      select case when b.account_id like '%\_sandbox' then h.key || '@' || b.account_id else h.key end, b.account_id,
             b.id, h.key, h.value::bigint + 1
        from import_batch b cross join lateral jsonb_each_text(b.heights) h
       where b.account_id = one ->> 'account_id' and b.id = one ->> 'id'
    on conflict (account_id, batch_id, ledger) do update set next_height = excluded.next_height, done_at = null;
    -- Its rows were not counted while nobody saw them (count_listed).
    insert into list_count as c (account_id, list, part, rows)
      select one ->> 'account_id', 'address', 0, (one ->> 'adopting')::bigint
    on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  end loop;
  for one in select value from jsonb_array_elements(coalesce(batch -> 'imports_undone', '[]')) loop
    -- Locked first: a block that hits one of its addresses holds it too, and is seen by what follows (M-R2).
    perform 1 from import_batch b where b.account_id = one ->> 'account_id' and b.id = one ->> 'id' for update;
    if one ->> 'becomes' = 'rolled_back' then
      -- What a wipe has been through is nobody's any more.
      perform import_moved(not exists (select from wipe w join import_batch b on b.account_id = w.account_id
          and b.id = one ->> 'id' and b.committed_at - ahead_of(b.account_id) <= w.began_at
        where w.account_id = one ->> 'account_id'));
      if exists (select from import_hit h join fact f on f.ledger = h.ledger and f.txid = h.txid
                    and f.output_index = h.output_index and f.status <> 'orphaned'
                  where h.account_id = one ->> 'account_id' and h.batch_id = one ->> 'id')
         or exists (select from import_batch b join withdrawal w on w.account_id = b.account_id
                       -- An hour more: both are by the clocks of nodes, and before its commit it had none.
                       and w.created_at >= b.committed_at - ahead_of(b.account_id) - interval '1 hour'
                       and w.status not in ('expired', 'failed')
                       -- One whose counter is bound is about to be signed.
                       and (w.status <> 'built' or w.unsigned ? 'boundAtMs')
                     cross join lateral (select from address a where a.address = w.from_address
                         and a.account_id = w.account_id and a.batch_id = b.id offset 0) a
                     where b.account_id = one ->> 'account_id' and b.id = one ->> 'id') then
        raise exception 'a transaction landed on an adopted address'
          using errcode = 'check_violation', constraint = 'import_rollback_closed', table = 'import_batch';
      end if;
      insert into list_count as c (account_id, list, part, rows)
        select one ->> 'account_id', 'address', 1, -(one ->> 'adopting')::bigint
      on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
    end if;
    update import_batch b set state = 'rolling_back', becomes = one ->> 'becomes',
        worked_until = clock_timestamp() + interval '45 seconds'
     where b.account_id = one ->> 'account_id' and b.id = one ->> 'id' and b.adopting = (one ->> 'adopting')::bigint
       and b.state = case one ->> 'becomes' when 'rolled_back' then 'committed' else 'committing' end;
    perform import_moved(found);
  end loop;
  for one in select value from jsonb_array_elements(coalesce(batch -> 'projects_cut_over', '[]')) loop
    update migration_project p set state = one ->> 'state',
        activated = coalesce(nullif(one -> 'heights', 'null'), p.activated), holds = one ->> 'state' = 'observe',
        resumes = case when one ->> 'state' = 'active' and p.holds then clock_timestamp() end
     where p.account_id = one ->> 'account_id' and p.id = one ->> 'id'
       and p.state = case one ->> 'state' when 'active' then 'observe' else 'active' end;
    perform import_moved(found);
    -- Of a batch that opens behind the cutover, or whose blocks are not read again, deposits from before would be
    -- announced; so would those of a chain without a height (M-O5).
    perform import_moved(one ->> 'state' <> 'active' or not exists (
      select from import_batch b
       where b.account_id = one ->> 'account_id' and b.project_id = one ->> 'id' and (b.state = 'committing'
         or b.state = 'committed' and (
           exists (select from import_catch_up c
                    where c.account_id = b.account_id and c.batch_id = b.id and c.done_at is null)
           or not coalesce(one -> 'heights', '{}') ?& array(select jsonb_object_keys(b.heights))))));
  end loop;
end $$;
