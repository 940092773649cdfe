-- The part of an append that is about addresses: extended keys, pool addresses, new addresses with their registry rows,
-- changes of status, daily peaks.
--   key       active ──another key of the family──▶ retired      held ──released──▶ active
--   address   active ◀──change_address_status──▶ archived
-- A pool address whose index was issued stays what it is. A network that has an index already, or an index that its
-- pair passed over meanwhile, is refused as `address_pairs` (check_pairs): the decision is made again.
create or replace function append_addresses(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
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
    if exists (
      select from jsonb_to_recordset(batch -> 'addresses') r(account_id text, chain text, index bigint, paired boolean)
       where r.paired and (select a.id from address a where a.account_id = r.account_id and a.family = 'evm'
           and a.index = r.index
                              and a.chain = r.chain) is not null) then
      raise exception 'a network has the index already'
        using errcode = 'check_violation', constraint = 'address_pairs', table = 'address';
    end if;
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
           select g.account_id from address_registry g where g.address_key = r.address_key)
             is distinct from r.account_id
      returning account_id, id, address_key
    )
    -- A further network of an EVM address: the registry has the address already. `check_pairs` says that it is the
    -- account's.
    insert into address_registry (address_key, account_id, address_id)
      select i.address_key, i.account_id, i.id
        from issued i
        join jsonb_to_recordset(batch -> 'addresses') r(account_id text, id text, paired boolean)
             using (account_id, id)
       where r.paired is distinct from true;
    -- After a wipe the same phrase brings the account's own addresses again.
    perform watch_again(account_id, address_key)
      from jsonb_to_recordset(batch -> 'addresses') r(account_id text, address_key uuid, purpose text)
     where purpose <> 'deposit';
    perform check_pairs(batch -> 'addresses');
  end if;
  if batch ? 'address_statuses' then
    -- One by one: two changes of one address in a batch each see the other's.
    perform change_address_status(value ->> 'account_id', value ->> 'id', value ->> 'status',
        (value ->> 'alone')::boolean)
      from (select value from jsonb_array_elements(batch -> 'address_statuses') with ordinality e(value, n)
          order by n) e;
  end if;
  if batch ? 'address_peaks' then
    insert into address_peak as p (account_id, day, active)
      select account_id, day, active
          from jsonb_to_recordset(batch -> 'address_peaks') r(account_id text, day date, active bigint)
    on conflict (account_id, day) do update set active = greatest(p.active, excluded.active);
  end if;
end $$;
