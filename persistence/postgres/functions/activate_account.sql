-- Loads and fences an account in one UPDATE: an owner with an older epoch can no longer write. Returns `known` false
-- for an account that is not there, and null for the rest when the caller's epoch is older than the account's or not
-- the one that the shard minted. The version counts events, so it stays: of two incarnations under one epoch the first
-- append makes the other stale. What is on its way is read from rows by a statement of its own: the UPDATE may have
-- waited for an append whose rows its own snapshot does not have. A snapshot of an earlier release has a copy; the rows
-- are right.
create or replace function activate_account(wanted text, epoch bigint, builds_after timestamptz)
returns table (known boolean, account_version bigint, account_epoch bigint, account_state jsonb)
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
begin
  update account a set owner_epoch = epoch
   where a.account_id = wanted and a.owner_epoch <= epoch
     and epoch = (select s.epoch from shard s where s.id = a.shard_id)
  returning a.version, a.owner_epoch, a.state into account_version, account_epoch, account_state;
  known := found or exists (select 1 from account where account_id = wanted);
  if account_state is not null then
    account_state := account_state || account_in_flight(wanted, builds_after);
  end if;
  return next;
end $$;
grant execute on function activate_account to flock_app;
