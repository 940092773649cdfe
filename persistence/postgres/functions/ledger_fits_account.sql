-- Live accounts are paid on live ledgers, a sandbox account on its own: `eth@org_…_sandbox`.
create or replace function ledger_fits_account(ledger text, account_id text) returns boolean
language sql immutable as $$
  select case when strpos(ledger, '@') = 0 then account_id like '%\_live'
      else split_part(ledger, '@', 2) = account_id and account_id like '%\_sandbox' end;
$$;
