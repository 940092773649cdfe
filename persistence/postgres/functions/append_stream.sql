-- The part of an append that belongs to the account itself: a sandbox reset first, then the plan's limit (I27), the
-- snapshot with its new version, events, the edge's identity, the first answer to an Idempotency-Key, and the inbox
-- rows that the events decided.
create or replace function append_stream(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if batch ? 'sandbox_resets' then
    perform reset_sandbox(value ->> 'account_id') from jsonb_array_elements(batch -> 'sandbox_resets');
  end if;
  -- I27: an allocation that makes them more stays within the plan; a plan that became smaller takes none away.
  if batch ? 'addresses' or batch ? 'address_statuses' then
    perform 1 from jsonb_to_recordset(batch -> 'accounts') e(account_id text, state jsonb)
        join account a using (account_id)
     where a.environment = 'live' and (e.state -> 'activeAddresses')::bigint > (a.state -> 'activeAddresses')::bigint
       and (e.state -> 'activeAddresses')::bigint > address_limit_of(e.state -> 'plan');
    if found then
      raise exception 'more active addresses than the plan has'
        using errcode = 'check_violation', constraint = 'account_address_cap', table = 'account';
    end if;
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
        from jsonb_to_recordset(batch -> 'identities') r(account_id text, public_key text)
            join account a using (account_id)
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
