-- Counts further what one side of an address moved, at most about `most` rows of it: what is above the counted height,
-- up to `upto`. Begins with a row that changes of rows see; it counts once all that began before they could see it has
-- ended. A change of a counted row waits for this, or this for it.
create or replace function count_audit_total(of_ledger text, of_side text, of_subject text, upto bigint, most int)
returns void language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  total audit_total;
  reached bigint;
begin
  select * into total from audit_total t
   where t.ledger = of_ledger and t.side = of_side and t.subject = of_subject for update;
  if not found then
    insert into audit_total (ledger, side, subject) values (of_ledger, of_side, of_subject) on conflict do nothing;
    return;
  end if;
  -- One that is ahead of this server's transactions was restored from another server.
  if total.ready is null or total.ready > pg_current_xact_id() then
    update audit_total t set ready = pg_current_xact_id()
     where t.ledger = of_ledger and t.side = of_side and t.subject = of_subject;
    return;
  end if;
  if pg_snapshot_xmin(pg_current_snapshot()) < total.ready or upto <= total.through then
    return;
  end if;
  reached := audit_step(of_ledger, of_side, of_subject, total.through, upto, most);
  update audit_total t
     set sums = audit_sums(t.sums, of_ledger, of_side, of_subject, total.through, reached), through = reached
   where t.ledger = of_ledger and t.side = of_side and t.subject = of_subject;
end $$;
grant execute on function count_audit_total to flock_app;
