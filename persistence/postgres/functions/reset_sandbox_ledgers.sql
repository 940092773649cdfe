-- The simulated ledgers of an account with what watchers recorded of them, and its tasks.
create or replace function reset_sandbox_ledgers(of_account text) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  ledgers text[] := array(select chain || '@' || of_account
                            from unnest('{btc,eth,bsc,polygon,avax,base,tron,sol,xrp,xlm}'::text[]) chain);
begin
  if of_account not like '%\_sandbox' then -- I10: a live account has no simulated ledger to reset
    raise exception 'account % is no sandbox', of_account using errcode = 'check_violation',
        constraint = 'reset_only_sandbox';
  end if;
  delete from sandbox_block where ledger = any (ledgers);
  delete from sandbox_balance where ledger = any (ledgers);
  delete from sandbox_ledger where ledger = any (ledgers);
  delete from sandbox_token where account_id = of_account;
  delete from simulated_claim where account_id = of_account;
  delete from sandbox_task where account_id = of_account;
  delete from audit_total where ledger = any (ledgers);
  delete from fact where ledger = any (ledgers);
  delete from unresolved_height where ledger = any (ledgers);
  delete from block_link where ledger = any (ledgers);
  delete from chain_cursor where ledger = any (ledgers);
  delete from registry_start where ledger = any (ledgers);
  delete from chain_head where ledger = any (ledgers);
  delete from discrepancy where ledger = any (ledgers);
end $$;
grant execute on function reset_sandbox_ledgers to flock_app;
