-- New rows of EVM deposit addresses against spec 1.6. A new index has no row yet; a further network of an index has the
-- same address for the same (user_ref, tag), which is active on another network; and no network passes over an index of
-- its pair. What was decided on rows that changed meanwhile is refused as `address_pairs`: it is decided again. Most
-- rows are of a pair that is on one network and of an index that no other has: three look-ups say so, for all rows of a
-- batch in one statement.
create or replace function check_pairs(rows jsonb) returns void language plpgsql
set search_path = flock, pg_temp set enable_sort = off set enable_bitmapscan = off as $$
declare
  r record;
  sibling record;
begin
  for r in
    select account_id, chain, user_ref, coalesce(tag, '') as tag, index, address_key, coalesce(paired, false) as paired,
           coalesce(pairs_from, 0) as base
      from jsonb_to_recordset(rows) a(account_id text, chain text, family text, purpose text, user_ref text,
          tag text, index bigint,
                                      address_key uuid, paired boolean, pairs_from bigint)
     where family = 'evm' and purpose = 'deposit' and index is not null
       and (paired is true
         or exists (select from address o where o.account_id = a.account_id and o.family = 'evm' and o.index = a.index
             and o.chain <> a.chain)
         -- The first and the last entry of the pair, as in `unpaired_index`: where both are of this network, all are.
         or a.user_ref is not null and a.chain <> (
           select o.chain from address o where o.account_id = a.account_id and o.user_ref = a.user_ref
               and coalesce(o.tag, '') = coalesce(a.tag, '')
              and o.family = 'evm' and o.purpose = 'deposit' and o.index is not null and o.user_ref is not null
            order by o.account_id, o.user_ref, coalesce(o.tag, ''), o.chain, o.status, o.index limit 1)
         or a.user_ref is not null and a.chain <> (
           select o.chain from address o where o.account_id = a.account_id and o.user_ref = a.user_ref
               and coalesce(o.tag, '') = coalesce(a.tag, '')
              and o.family = 'evm' and o.purpose = 'deposit' and o.index is not null and o.user_ref is not null
            order by o.account_id desc, o.user_ref desc, coalesce(o.tag, '') desc, o.chain desc, o.status desc,
                o.index desc limit 1))
  loop
    select count(*) as count, coalesce(bool_or(a.status = 'active'), false) as active,
           coalesce(bool_and(a.address_key = r.address_key and a.user_ref is not distinct from r.user_ref
               and coalesce(a.tag, '') = r.tag), true) as same
      into sibling from address a
     where a.account_id = r.account_id and a.family = 'evm' and a.index = r.index and a.chain <> r.chain;
    if not sibling.same or (sibling.count > 0 and not r.paired) then
      raise exception 'index % of account % is of another address', r.index, r.account_id
        using errcode = 'unique_violation', constraint = 'address_index_once', table = 'address';
    end if;
    if r.paired then
      delete from address_gap where account_id = r.account_id and user_ref = r.user_ref and tag = r.tag
          and chain = r.chain and index = r.index;
    end if;
    if (r.paired and not sibling.active)
       or (r.user_ref is not null and unpaired_index(r.account_id, r.user_ref, r.tag, r.chain, r.base,
           r.index) is not null) then
      raise exception 'pairs of account % changed', r.account_id
        using errcode = 'check_violation', constraint = 'address_pairs', table = 'address';
    end if;
  end loop;
end $$;
