-- Counts once more, at most about `most` rows, the total of a ledger that was recounted longest ago. When it has come
-- to the counted height its sums take the place of the others. Answers a total that was not what its rows say: somebody
-- changed one or the other without the triggers.
create or replace function recount_audit_total(of_ledger text, most int)
returns table (side text, subject text, counted text, by_rows text)
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  total audit_total;
  reached bigint;
  again jsonb;
begin
  select * into total from audit_total t where t.ledger = of_ledger and t.through >= 0
   order by t.ledger, t.recounted_at nulls first limit 1 for update skip locked;
  if not found then
    return;
  end if;
  reached := audit_step(of_ledger, total.side, total.subject, total.again_through, total.through, most);
  again := audit_sums(total.again_sums, of_ledger, total.side, total.subject, total.again_through, reached);
  if reached < total.through then
    update audit_total t set again_through = reached, again_sums = again
     where t.ledger = of_ledger and t.side = total.side and t.subject = total.subject;
    return;
  end if;
  update audit_total t set sums = again, again_through = -1, again_sums = '{}', recounted_at = clock_timestamp()
   where t.ledger = of_ledger and t.side = total.side and t.subject = total.subject;
  if again <> total.sums then
    return query select total.side, total.subject, total.sums::text, again::text;
  end if;
end $$;
grant execute on function recount_audit_total to flock_app;
