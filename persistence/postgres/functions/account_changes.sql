-- What happened in accounts since a place in each: one look a second of a node for all that listen to it. A place is
-- how many events the account had (`version`), how often its deliveries changed (`deliveries`) and how long the log of
-- its organization was (`entries`). A row for each account that moved, with the newest `most` changes of each kind,
-- oldest first: a caller that was further behind reads everything again. Console C14.
create or replace function account_changes(
  accounts text[], versions bigint[], deliveries bigint[], entries bigint[], most int)
returns table (account_id text, version bigint, delivery bigint, entry bigint, changes jsonb)
language sql stable security definer set search_path = flock, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  -- In order and at most so many: of what begins at a place nobody knows beforehand the planner expects a third of the
  -- log, and would read all of it by whichever index is smaller.
  select a.account_id, a.version, coalesce(d.n, 0), coalesce(h.seq, 0), jsonb_build_object(
           'events', coalesce((select jsonb_agg(jsonb_build_array(e.version, e.type, e.id) order by e.version)
              from (select x.version, x.type, coalesce(x.body ->> 'id', x.body ->> 'deliveryId', x.body ->> 'batchId',
                             x.body ->> 'projectId',
                             x.body -> 'policy' ->> 'id', x.body -> 'wallet' ->> 'id') as id
                      from event x
                     where x.account_id = a.account_id and x.version > greatest(w.version, a.version - most)
                     order by x.version desc limit most) e), '[]'),
           'entries', coalesce((select jsonb_agg(jsonb_build_array(e.seq, e.action, e.target) order by e.seq)
              from (select x.seq, x.action, x.target, x.outcome from audit_entry x
                     where x.organization_id = a.organization_id and x.seq > greatest(w.entry, h.seq - most)
                     order by x.seq desc limit most) e
             where e.outcome = 'done'), '[]'))
    from unnest(accounts, versions, deliveries, entries) w(account_id, version, delivery, entry)
        join account a on a.account_id = w.account_id collate "C"
        left join delivery_change d on d.account_id = a.account_id
        left join audit_head h on h.organization_id = a.organization_id
   where (a.version, coalesce(d.n, 0), coalesce(h.seq, 0)) is distinct from (w.version, w.delivery, w.entry)
$$;
grant execute on function account_changes to flock_app;
