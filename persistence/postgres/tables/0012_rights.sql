-- What the application role may do. Money, addresses, events and deliveries: nothing but reading its tenant's rows and
-- calling the functions. The fence cannot be forgotten, because there is no other way to write.

grant usage on schema flock to flock_app;
grant execute on function
  claim_shards, load_account, append_accounts, record_block, resolve_height, record_late, record_reorg, mature_facts,
  refute_facts,
  note_withdrawal_fact, note_unresolved, note_head, watched_addresses, addresses_since, immature_facts, open_withdrawals,
  accounts_with_inbox, claim_deliveries, record_attempts, release_deliveries, incomplete_publications,
  ensure_attempt_partitions, save_idempotent, purge_idempotent, create_organization, sandbox_mine, sandbox_unmine,
  take_sandbox_tasks, sandbox_behind, reset_sandbox_ledgers, ledger_balances, record_discrepancy
to flock_app;

-- Second net for tenants (the first: composite foreign keys and an account in every call): a read sees the rows of the
-- account that its own statement named, and none when it named none.
do $$
declare
  name text;
begin
  foreach name in array '{account,pinned_identity,event,idempotency,address,address_registry,account_key,pool_address,address_peak,deposit,
      ledger_entry,withdrawal,billable,webhook,publication,delivery,attempt,fact,inbox}'::text[] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I for select to flock_app
                      using (account_id = (select current_setting(''flock.account'', true)))', name);
    -- FORCE binds the owner too; the posting functions run as the owner and check the account themselves.
    execute format('create policy posting on %I to flock_owner using (true) with check (true)', name);
    execute format('grant select on %I to flock_app', name);
  end loop;
end $$;
alter view settled_transactions set (security_invoker = true);
grant select on settled_transactions to flock_app;

-- Shared facts without a tenant.
grant select on shard, chain_cursor, chain_head, block_link, unresolved_height to flock_app;

-- Sign-in, edges and the simulated ledgers: written row by row, no money among them.
grant select on organization, sandbox_block, sandbox_transaction, sandbox_balance, discrepancy to flock_app;
grant select, insert, update on sandbox_ledger to flock_app;
grant select, insert, update on console_user, membership, api_key, signing_key, local_key to flock_app;
grant select, insert, update, delete on refresh_token, edge_session, edge_nonce, sandbox_task to flock_app;
