-- Records a finding of the audit. Returns true when it is new.
create or replace function record_discrepancy(finding_row jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  is_new boolean;
begin
  insert into discrepancy as d (id, ledger, account_id, address_id, address, token_contract, kind, amount,
      expected, found,
                                height, evidence, recorded_at)
    select id, ledger, account_id, address_id, address, token_contract, kind, amount, expected, found, height,
        evidence, recorded_at
      from jsonb_to_record(finding_row)
        r(id text, ledger text, account_id text, address_id text, address text, token_contract text, kind text,
          amount amount, expected amount, found amount, height bigint, evidence jsonb, recorded_at timestamptz)
  on conflict on constraint discrepancy_once do update
    set amount = excluded.amount, expected = excluded.expected, found = excluded.found, height = excluded.height,
        evidence = excluded.evidence, recorded_at = excluded.recorded_at
    where d.kind = 'shortfall'
  returning xmax = 0 into is_new;
  return coalesce(is_new, false);
end $$;
grant execute on function record_discrepancy to flock_app;
