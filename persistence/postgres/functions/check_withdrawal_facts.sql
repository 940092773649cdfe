-- What a watcher claims of withdrawals is about ones that the account has on this ledger.
create or replace function check_withdrawal_facts(of_ledger text, entries jsonb) returns void
language plpgsql set search_path = flock, pg_temp as $$
begin
  if exists (
    select from jsonb_array_elements(entries) e(value)
     where coalesce(e.value -> 'fact' ->> 'kind', '') not like 'withdrawal\_%' or (
       -- Scalar: `not exists` under an `or` is planned as a hash of the whole table.
       select w.id from withdrawal w where w.account_id = e.value ->> 'accountId'
           and w.id = e.value -> 'fact' ->> 'withdrawalId'
          and (of_ledger is null or w.ledger = of_ledger)) is null) then
    raise exception 'a fact is about a withdrawal that its account does not have'
      using errcode = 'check_violation', constraint = 'fact_of_withdrawal', table = 'withdrawal';
  end if;
end $$;
