-- The part of an append that is the audit log: what a person or the control plane changed in the account, and the
-- entry of it, in one statement.
create or replace function append_audit(batch jsonb) returns void language plpgsql as $$
begin
  if batch ? 'audit_notes' then
    perform record_audit((
      select jsonb_agg(r.note || jsonb_build_object('organizationId', a.organization_id, 'environment', a.environment)
               order by r.place)
        from rows from (jsonb_to_recordset(batch -> 'audit_notes') as (account_id text, note jsonb))
          with ordinality r(account_id, note, place)
        join account a on a.account_id = r.account_id));
  end if;
end $$;
