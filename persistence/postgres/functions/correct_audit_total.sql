-- A row of a height was added to one side of an address, or (a negative amount) is there no longer: where that height
-- was counted, its sum moves. The total stays locked until this transaction ends, so that nobody counts over it.
create or replace function correct_audit_total(of_ledger text, of_side text, of_subject text, at_height bigint,
                                               token text, amount numeric)
returns void language plpgsql set search_path = flock, pg_temp as $$
declare
  counted bigint;
begin
  select t.through into counted from audit_total t
   where t.ledger = of_ledger and t.side = of_side and t.subject = of_subject for update;
  if found and at_height <= counted and amount <> 0 then
    update audit_total t
       set sums = audit_sums_with(t.sums, token, amount),
           again_sums = case when at_height <= t.again_through then audit_sums_with(t.again_sums, token, amount)
                             else t.again_sums end
     where t.ledger = of_ledger and t.side = of_side and t.subject = of_subject;
  end if;
end $$;
