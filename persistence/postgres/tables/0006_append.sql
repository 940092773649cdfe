-- The one way to change accounts: a group of appends, each fenced by its account's row.
--
-- `batch` holds one array per table; every row names its account. `accounts` is required and has one row per account:
--   accounts [{account_id, owner_epoch, version, events, state}]
--   events, identities, addresses, address_statuses, pool_addresses, account_keys, deposits, ledger_entries, withdrawals,
--   withdrawal_statuses, webhooks, publications, replays, inbox_taken, idempotency, billables, address_peaks,
--   sandbox_resets
-- Answers one outcome per row of `accounts`, in its order: appended, stale or duplicate.

-- The batch without the rows of some accounts: the rare case in which one of a group is refused.
create function batch_without(batch jsonb, rejected text[]) returns jsonb language sql as $$
  select jsonb_object_agg(t.key, coalesce((
           select jsonb_agg(r.value order by n) from jsonb_array_elements(t.value) with ordinality r(value, n)
            where r.value ->> 'account_id' <> all (rejected)), '[]'))
    from jsonb_each(batch) t;
$$;

create function append_accounts(batch jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  asked text[] := array(select value ->> 'account_id' from jsonb_array_elements(batch -> 'accounts') with ordinality e(value, n) order by n);
  fenced text[];
  late text[] := '{}';
  duplicates text[] := '{}';
begin
  -- Locked in the order of their ids, so that two groups never wait for each other. READ COMMITTED re-reads the
  -- predicate on the newest row after a lock wait: that is the fence.
  fenced := array(
    select a.account_id
      from jsonb_to_recordset(batch -> 'accounts') e(account_id text, owner_epoch bigint, version bigint)
      join account a on a.account_id = e.account_id and a.owner_epoch = e.owner_epoch and a.version = e.version
     order by a.account_id for no key update of a);
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
    perform append_addresses(batch);
    perform append_money(batch);
    perform append_webhooks(batch);
  end if;
  return array(select case when a <> all (fenced) then 'stale' when a = any (duplicates) then 'duplicate' else 'appended' end
                 from unnest(asked) with ordinality u(a, n) order by n);
end $$;

-- Snapshot, events, the first answer to an idempotency key, inbox rows that the events are about.
create function append_stream(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'sandbox_resets' then
    perform reset_sandbox(value ->> 'account_id') from jsonb_array_elements(batch -> 'sandbox_resets');
  end if;
  update account a set version = e.version + e.events, state = e.state
    from jsonb_to_recordset(batch -> 'accounts') e(account_id text, version bigint, events int, state jsonb)
   where a.account_id = e.account_id;
  if batch ? 'events' then
    insert into event (account_id, version, type, body)
      select account_id, version, body ->> 'type', body
        from jsonb_to_recordset(batch -> 'events') r(account_id text, version bigint, body jsonb);
  end if;
  if batch ? 'identities' then
    insert into pinned_identity as p (account_id, organization_id, public_key)
      select r.account_id, a.organization_id, r.public_key
        from jsonb_to_recordset(batch -> 'identities') r(account_id text, public_key text) join account a using (account_id)
    on conflict (account_id) do update set public_key = excluded.public_key, pinned_at = clock_timestamp();
  end if;
  if batch ? 'idempotency' then
    insert into idempotency as i (account_id, method, path, key, body_hash, status, body)
      select account_id, method, path, key, body_hash, status, body::json
        from jsonb_to_recordset(batch -> 'idempotency')
          r(account_id text, method text, path text, key text, body_hash text, status int, body text)
    on conflict (account_id, method, path, key) do update
      set body_hash = excluded.body_hash, status = excluded.status, body = excluded.body, created_at = clock_timestamp()
      where i.created_at <= clock_timestamp() - interval '24 hours';
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'idempotency') then
      -- The key was taken between the look and the write: once more, alone, and it is seen.
      raise exception 'an idempotency key was taken meanwhile' using errcode = 'serialization_failure';
    end if;
  end if;
  if batch ? 'inbox_taken' then
    delete from inbox i using jsonb_to_recordset(batch -> 'inbox_taken') r(account_id text, id bigint)
     where i.id = r.id and i.account_id = r.account_id;
  end if;
end $$;

create function append_addresses(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  change jsonb;
begin
  if batch ? 'account_keys' then
    insert into account_key as k (account_id, family, fingerprint, xpub, account_path, status)
      select account_id, family, fingerprint, xpub, account_path, status
        from jsonb_to_recordset(batch -> 'account_keys')
          r(account_id text, family text, fingerprint text, xpub text, account_path text, status text)
       order by status = 'active' -- the old key retires before the new one is active
    on conflict (account_id, family, fingerprint) do update set status = excluded.status
      where k.xpub = excluded.xpub and k.account_path = excluded.account_path;
  end if;
  if batch ? 'pool_addresses' then
    insert into pool_address (account_id, chain, index, address, path, address_key)
      select account_id, chain, index, address, path, address_key
        from jsonb_to_recordset(batch -> 'pool_addresses')
          r(account_id text, chain text, index bigint, address text, path text, address_key uuid)
    on conflict (account_id, chain, index) do update
      set address = excluded.address, path = excluded.path, address_key = excluded.address_key
      where (select a.index from address a where a.account_id = excluded.account_id and a.family = excluded.chain
                and a.index = excluded.index) is null; -- an issued one stays what it is; scalar, as below
  end if;
  if batch ? 'addresses' then
    with issued as (
      insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose,
                           index, user_ref, tag, label, status, created_at)
        select account_id, id, environment, chain, family, address, address_key, derivation_path, purpose,
               index, user_ref, tag, label, status, created_at
          from jsonb_to_recordset(batch -> 'addresses')
            r(account_id text, id text, environment text, chain text, family text, address text, address_key uuid,
              derivation_path text, purpose text, index bigint, user_ref text, tag text, label text, status text,
              created_at timestamptz)
         -- A gas tank or treasury that the account has already stays. A scalar subquery, because `not exists` under an
         -- `or` is planned as a hash of the whole registry.
         where purpose = 'deposit' or (
           select g.account_id from address_registry g where g.address_key = r.address_key) is distinct from r.account_id
      returning account_id, id, address_key
    )
    insert into address_registry (address_key, account_id, address_id) select address_key, account_id, id from issued;
  end if;
  if batch ? 'address_statuses' then
    -- One by one: two changes of one address in a batch each see the other's.
    for change in select value from jsonb_array_elements(batch -> 'address_statuses') loop
      update address set status = change ->> 'status'
       where account_id = change ->> 'account_id' and id = change ->> 'id' and status <> change ->> 'status';
      if not found then
        raise exception 'address % is % already', change ->> 'id', change ->> 'status'
          using errcode = 'check_violation', constraint = 'address_status_changes', table = 'address';
      end if;
    end loop;
  end if;
  if batch ? 'address_peaks' then
    insert into address_peak as p (account_id, day, active)
      select account_id, day, active from jsonb_to_recordset(batch -> 'address_peaks') r(account_id text, day date, active bigint)
    on conflict (account_id, day) do update set active = greatest(p.active, excluded.active);
  end if;
end $$;

create function append_money(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
begin
  if batch ? 'deposits' then
    insert into deposit (account_id, id, ledger, chain, txid, output_index, address_id, address, amount, decimals,
        token_contract, token_symbol, user_ref, tag, chain_tag, status, incarnation, announced, height, block_hash,
        threshold, created_at, updated_at)
      select account_id, id, ledger, chain, txid, output_index, address_id, address, amount, decimals,
             token_contract, token_symbol, user_ref, tag, chain_tag, status, incarnation, announced, height, block_hash,
             threshold, created_at, updated_at
        from jsonb_to_recordset(batch -> 'deposits')
          r(account_id text, id text, ledger text, chain text, txid text, output_index bigint, address_id text,
            address text, amount amount, decimals int, token_contract text, token_symbol text, user_ref text, tag text,
            chain_tag text, status text, incarnation int, announced boolean, height bigint, block_hash text, threshold int,
            created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      ledger = excluded.ledger, chain = excluded.chain, txid = excluded.txid, output_index = excluded.output_index,
      address_id = excluded.address_id, address = excluded.address, amount = excluded.amount, decimals = excluded.decimals,
      token_contract = excluded.token_contract, token_symbol = excluded.token_symbol, user_ref = excluded.user_ref,
      tag = excluded.tag, chain_tag = excluded.chain_tag, announced = excluded.announced, status = excluded.status, incarnation = excluded.incarnation,
      height = excluded.height, block_hash = excluded.block_hash, threshold = excluded.threshold,
      updated_at = excluded.updated_at;
  end if;
  if batch ? 'ledger_entries' then
    insert into ledger_entry (deposit_id, account_id, incarnation, kind, amount, event_id)
      select deposit_id, account_id, incarnation, kind, amount, event_id
        from jsonb_to_recordset(batch -> 'ledger_entries')
          r(deposit_id text, account_id text, incarnation int, kind text, amount amount, event_id text);
  end if;
  if batch ? 'withdrawals' then
    insert into withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_contract,
        token_symbol, user_ref, tag, status, unsigned, versions, txid, height, block_hash, fee, failure, created_at,
        updated_at)
      select account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_contract, token_symbol,
             user_ref, tag, status, unsigned, versions, txid, height, block_hash, fee, failure, created_at, updated_at
        from jsonb_to_recordset(batch -> 'withdrawals')
          r(account_id text, id text, ledger text, chain text, from_address text, to_address text, amount amount,
            decimals int, token_contract text, token_symbol text, user_ref text, tag text, status text, unsigned jsonb,
            versions jsonb, txid text, height bigint, block_hash text, fee amount, failure jsonb,
            created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      ledger = excluded.ledger, chain = excluded.chain, from_address = excluded.from_address,
      to_address = excluded.to_address, token_contract = excluded.token_contract, amount = excluded.amount,
      status = excluded.status, unsigned = excluded.unsigned, versions = excluded.versions, txid = excluded.txid,
      height = excluded.height, block_hash = excluded.block_hash, fee = excluded.fee, failure = excluded.failure,
      updated_at = excluded.updated_at;
  end if;
  if batch ? 'withdrawal_statuses' then
    update withdrawal w set status = r.status, updated_at = r.updated_at
      from jsonb_to_recordset(batch -> 'withdrawal_statuses') r(account_id text, id text, status text, updated_at timestamptz)
     where w.account_id = r.account_id and w.id = r.id;
  end if;
  if batch ? 'billables' then
    insert into billable (account_id, withdrawal_id, kind, period)
      select account_id, withdrawal_id, kind, period
        from jsonb_to_recordset(batch -> 'billables') r(account_id text, withdrawal_id text, kind text, period text);
  end if;
end $$;

create function append_webhooks(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'webhooks' then
    insert into webhook (account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at)
      select account_id, id, url, events, sealed_secrets, secret_preview, status, created_at, updated_at
        from jsonb_to_recordset(batch -> 'webhooks')
          r(account_id text, id text, url text, events text[], sealed_secrets text[], secret_preview text, status text,
            created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      url = excluded.url, events = excluded.events, sealed_secrets = excluded.sealed_secrets,
      secret_preview = excluded.secret_preview, status = excluded.status, updated_at = excluded.updated_at;
    -- I16: what an endpoint has not got when it is disabled or deleted stays held.
    update delivery d set status = 'held', next_attempt_at = null, claimed_until = null
      from jsonb_to_recordset(batch -> 'webhooks') r(account_id text, id text, status text)
     where r.status <> 'enabled' and d.webhook_id = r.id and d.account_id = r.account_id
       and d.next_attempt_at is not null and d.status in ('pending', 'failed');
  end if;
  if batch ? 'publications' then
    -- Complete at once: its deliveries become durable with it, one for every endpoint that subscribes to it. An
    -- endpoint that is disabled keeps them as `held`.
    with told as materialized (
      select nextval('publication_seq_seq') as seq, ordered.* from (
        select * from rows from (jsonb_to_recordset(batch -> 'publications')
            as (account_id text, event_id text, event text, body text, order_key text, to_all boolean,
                created_at timestamptz, delivery_id text))
          with ordinality r(account_id, event_id, event, body, order_key, to_all, created_at, delivery_id, n)
         order by n) ordered
    ), published as (
      insert into publication (account_id, event_id, seq, event, body, order_key, to_all, created_at, completed_at)
        overriding system value
        select account_id, event_id, seq, event, body, order_key, to_all, created_at, clock_timestamp() from told
    )
    insert into delivery (id, account_id, event_id, webhook_id, seq, order_key, status, next_attempt_at, created_at)
      select numbered_id(p.delivery_id, row_number() over (partition by p.account_id, p.event_id order by w.id)),
             p.account_id, p.event_id, w.id, p.seq, p.order_key,
             case w.status when 'enabled' then 'pending' else 'held' end,
             case w.status when 'enabled' then p.created_at end, p.created_at
        from told p
        join webhook w on w.account_id = p.account_id and w.status <> 'deleted' and (p.to_all or p.event = any (w.events));
  end if;
  if batch ? 'replays' then
    insert into delivery (id, account_id, event_id, webhook_id, replay, seq, order_key, status, next_attempt_at, created_at)
      select r.new_delivery_id, d.account_id, d.event_id, d.webhook_id,
             -- Several replays of one event in a batch count on from each other.
             (select max(o.replay) from delivery o where o.webhook_id = d.webhook_id and o.event_id = d.event_id)
               + row_number() over (partition by d.webhook_id, d.event_id order by r.new_delivery_id),
             d.seq, d.order_key, 'pending', r.now, r.now
        from jsonb_to_recordset(batch -> 'replays') r(account_id text, delivery_id text, new_delivery_id text, now timestamptz)
        join delivery d on d.id = r.delivery_id and d.account_id = r.account_id
        join webhook w on w.account_id = d.account_id and w.id = d.webhook_id and w.status <> 'deleted';
    get diagnostics written = row_count;
    if written < jsonb_array_length(batch -> 'replays') then
      raise exception 'a delivery to replay does not exist or its endpoint is deleted'
        using errcode = 'foreign_key_violation', constraint = 'delivery_replays_delivery', table = 'delivery';
    end if;
  end if;
end $$;

-- The n-th of up to 1,024 ids that share a time and a random part: its last two characters count.
create function numbered_id(id text, n bigint) returns text language sql immutable as $$
  select left(id, 28) || substr('234567abcdefghijklmnopqrstuvwxyz', 1 + ((n - 1) / 32)::int, 1)
                      || substr('234567abcdefghijklmnopqrstuvwxyz', 1 + ((n - 1) % 32)::int, 1);
$$;
