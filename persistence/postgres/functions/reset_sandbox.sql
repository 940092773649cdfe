-- What a sandbox account issued, saw, sent and delivered. Its events, keys, endpoints, own addresses and pools stay.
create or replace function reset_sandbox(of_account text) returns void language plpgsql set search_path = flock, pg_temp as $$
declare
  step text;
begin
  perform reset_sandbox_ledgers(of_account);
  perform set_config('flock.sandbox_reset', of_account, true);
  delete from attempt a using delivery d where d.account_id = of_account and a.delivery_id = d.id;
  delete from delivery where account_id = of_account;
  -- A reversal points at its credit, a credit at its detection.
  foreach step in array array['reversal', 'credit', 'detected'] loop
    delete from ledger_entry e using deposit d where d.account_id = of_account and e.deposit_id = d.id and e.kind = step;
  end loop;
  delete from publication where account_id = of_account;
  delete from deposit where account_id = of_account;
  delete from billable where account_id = of_account;
  delete from withdrawal where account_id = of_account;
  delete from inbox where account_id = of_account;
  delete from address_registry g using address a
   where a.account_id = of_account and a.purpose = 'deposit' and g.address_key = a.address_key and g.account_id = a.account_id;
  delete from address where account_id = of_account and purpose = 'deposit';
  delete from address_gap where account_id = of_account;
  perform set_config('flock.sandbox_reset', '', true);
end $$;
