-- The one way to change accounts: a group of appends in one transaction, each fenced by its account's row. `batch`
-- holds one array per table, and every row of it names its account:
--   accounts (required) [{account_id, owner_epoch, version, events, state}], one row per account
--   events, identities, idempotency, inbox_taken, sandbox_resets        append_stream
--   account_keys, pool_addresses, addresses, address_statuses, address_peaks        append_addresses
--   deposits, ledger_entries, withdrawals, withdrawal_statuses, billables, billable_changes        append_money
--   webhooks, publications, replays        append_webhooks
--   what a further capability writes        its own append_<part>, by way of append_parts
-- Returns one outcome per row of `accounts`, in its order:
--   appended    all rows of the account are written
--   stale       the account's epoch or version is another one, or a fact that it took is gone: somebody else decided
--   duplicate   an Idempotency-Key of it has an answer of the last 24 hours
--   busy        somebody holds the account's row: the caller sends it again, alone, and waits for the lock
-- Rows of accounts that are not appended are left out of the batch (batch_without).
create or replace function append_accounts(batch jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  asked text[] := array(select value ->> 'account_id'
      from jsonb_array_elements(batch -> 'accounts') with ordinality e(value, n) order by n);
  fenced text[];
  busy text[] := '{}';
  late text[] := '{}';
  duplicates text[] := '{}';
begin
  perform check_batch(batch, asked);
  -- Locked in the order of their ids, so that two groups never wait for each other. READ COMMITTED re-reads the
  -- predicate on the newest row after a lock wait: that is the fence.
  if cardinality(asked) = 1 then
    fenced := array(
      select a.account_id
        from jsonb_to_recordset(batch -> 'accounts') e(account_id text, owner_epoch bigint, version bigint)
        join account a on a.account_id = e.account_id and a.owner_epoch = e.owner_epoch and a.version = e.version
       order by a.account_id for no key update of a);
  else
    -- Nobody waits for somebody else's lock: an account that is locked is sent again, alone.
    fenced := array(
      select a.account_id
        from jsonb_to_recordset(batch -> 'accounts') e(account_id text, owner_epoch bigint, version bigint)
        join account a on a.account_id = e.account_id and a.owner_epoch = e.owner_epoch and a.version = e.version
       order by a.account_id for no key update of a skip locked);
    if cardinality(fenced) < cardinality(asked) then
      busy := array(
        select a.account_id
          from jsonb_to_recordset(batch -> 'accounts') e(account_id text, owner_epoch bigint, version bigint)
          join account a on a.account_id = e.account_id and a.owner_epoch = e.owner_epoch and a.version = e.version
         where a.account_id <> all (fenced));
    end if;
  end if;
  if batch ? 'inbox_taken' then
    -- A fact that is gone was decided by someone else.
    late := array(
      select r.account_id from jsonb_to_recordset(batch -> 'inbox_taken') r(account_id text, id bigint)
       where not exists (select 1 from inbox i where i.id = r.id and i.account_id = r.account_id));
    fenced := array(select a from unnest(fenced) a where a <> all (late));
  end if;
  if batch ? 'idempotency' then
    duplicates := array(
      select e.account_id
        from jsonb_to_recordset(batch -> 'idempotency') e(account_id text, method text, path text, key text)
        join idempotency i using (account_id, method, path, key)
       where i.created_at > clock_timestamp() - interval '24 hours');
  end if;
  if cardinality(fenced) < cardinality(asked) or cardinality(duplicates) > 0 then
    batch := batch_without(batch, array(select a from unnest(asked) a where a <> all (fenced)) || duplicates);
  end if;
  if jsonb_array_length(batch -> 'accounts') > 0 then
    perform append_stream(batch);
    perform append_parts(batch);
  end if;
  return array(select case when a = any (busy) then 'busy' when a <> all (fenced) then 'stale'
      when a = any (duplicates) then 'duplicate' else 'appended' end
                 from unnest(asked) with ordinality u(a, n) order by n);
end $$;
grant execute on function append_accounts to flock_app;
