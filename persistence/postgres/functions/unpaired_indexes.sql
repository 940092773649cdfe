-- `unpaired_index` of many requests, whatever accounts they are of, in their order. Where an identity was rotated away,
-- its indexes are passed over. Runs as the owner, as that one does: the caller asks only for accounts whose requests it
-- serves.
create or replace function unpaired_indexes(accounts text[], users text[], tags text[], chains text[])
returns table (n bigint, index bigint) language sql stable security definer set search_path = flock, pg_temp as $$
  with rotated as materialized (
    select a.account_id, (select max((r.value -> 'next' ->> 'evm')::bigint)
        from jsonb_array_elements(a.state -> 'retired') r(value)) as base
      from account a where a.account_id = any (accounts) and a.state ? 'retired')
  select u.n, unpaired_index(u.account, u.user_ref, u.tag, u.chain,
                             coalesce((select o.base from rotated o where o.account_id = u.account), 0),
                                 9223372036854775807)
    from unnest(accounts, users, tags, chains) with ordinality u(account, user_ref, tag, chain, n)
$$;
grant execute on function unpaired_indexes to flock_app;
