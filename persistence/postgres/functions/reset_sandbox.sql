-- Ends a reset: deletes what reset_step left of what a sandbox account issued, saw, sent and delivered, and the mark.
-- Its events, keys, endpoints, own addresses and pools stay. Nodes of an earlier release come here at once, without a
-- mark; behind one that has steps left it refuses.
create or replace function reset_sandbox(of_account text) returns void
language plpgsql set search_path = flock, pg_temp as $$
declare
  step text;
begin
  if exists (select from sandbox_reset r where r.account_id = of_account and r.step <> 'done') then
    raise exception 'the reset of % has steps left', of_account
      using errcode = 'check_violation', constraint = 'sandbox_reset_waits', table = 'sandbox_reset';
  end if;
  perform reset_sandbox_ledgers(of_account);
  perform set_config('flock.sandbox_reset', of_account, true);
  -- By arrays of ids: joined, a plan may begin at the other side, which is everybody's.
  delete from attempt where delivery_id = any (array(select d.id from delivery d where d.account_id = of_account));
  delete from delivery where account_id = of_account;
  -- Slugs stay: none is ever given to another link (payments P6).
  delete from payment_entry where deposit_id = any (array(select d.id from deposit d where d.account_id = of_account));
  delete from payment_transfer
   where deposit_id = any (array(select d.id from deposit d where d.account_id = of_account));
  delete from resting_address where account_id = of_account;
  delete from unused_run where account_id = of_account;
  delete from invoice_link where account_id = of_account;
  delete from invoice where account_id = of_account;
  delete from checkout_address where account_id = of_account;
  delete from payment where account_id = of_account;
  delete from payment_link where account_id = of_account;
  -- A reversal points at its credit, a credit at its detection.
  foreach step in array array['reversal', 'credit', 'detected'] loop
    delete from ledger_entry e
        where e.deposit_id = any (array(select d.id from deposit d where d.account_id = of_account)) and e.kind = step;
  end loop;
  delete from publication where account_id = of_account;
  delete from deposit where account_id = of_account;
  delete from billable_change where account_id = of_account;
  delete from billable where account_id = of_account;
  delete from withdrawal where account_id = of_account;
  delete from sweep_operation where account_id = of_account;
  delete from sweep_job where account_id = of_account;
  delete from bridge_transfer where account_id = of_account;
  delete from sweepable where account_id = of_account;
  update sweep_policy set seen = fired, fired_at = null, held_until = null where account_id = of_account;
  delete from inbox where account_id = of_account;
  delete from address_origin where account_id = of_account;
  delete from key_source_pass where account_id = of_account;
  delete from address_registry g
   where g.address_key = any (array(select a.address_key from address a
       where a.account_id = of_account and a.purpose = 'deposit'))
     and g.account_id = of_account;
  delete from address where account_id = of_account and purpose = 'deposit';
  delete from address_gap where account_id = of_account;
  -- What count_listed leaves to us.
  insert into list_count as c (account_id, list, part, rows)
    select b.account_id, 'address', 1, -sum(b.adopting) from import_batch b
     where b.account_id = of_account and b.state = 'committed' group by b.account_id
  on conflict (account_id, list, part) do update set rows = c.rows + excluded.rows;
  delete from import_batch where account_id = of_account;
  delete from upload where account_id = of_account;
  delete from migration_project where account_id = of_account;
  delete from sandbox_reset where account_id = of_account;
  perform set_config('flock.sandbox_reset', '', true);
end $$;
