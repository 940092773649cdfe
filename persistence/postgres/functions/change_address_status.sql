-- One change of status. `alone` says that no other active row has the address, as the decision counted: an EVM address
-- counts once, whatever networks it was asked for. Null where it was not counted.
create or replace function change_address_status(of_account text, of_id text, becomes text, alone boolean) returns void
language plpgsql set search_path = flock, pg_temp as $$
declare
  changed record;
begin
  update address a set status = becomes where a.account_id = of_account and a.id = of_id and a.status <> becomes
  returning a.family, a.index, a.user_ref, coalesce(a.tag, '') as tag into changed;
  if not found then
    raise exception 'address % is % already', of_id, becomes
      using errcode = 'check_violation', constraint = 'address_status_changes', table = 'address';
  end if;
  if alone is null or changed.index is null then return; end if;
  if alone = exists (select from address a where a.account_id = of_account and a.family = changed.family
      and a.index = changed.index
                        and a.id <> of_id and a.status = 'active') then
    raise exception 'pairs of account % changed', of_account
      using errcode = 'check_violation', constraint = 'address_pairs', table = 'address';
  end if;
  if not alone or changed.family <> 'evm' or changed.user_ref is null then return; end if;
  if becomes = 'archived' then
    delete from address_gap g using unnest('{eth,bsc,polygon,avax,base}'::text[]) o(chain)
     where g.account_id = of_account and g.user_ref = changed.user_ref and g.tag = changed.tag and g.chain = o.chain
       and g.index = changed.index;
    return;
  end if;
  insert into address_gap (account_id, user_ref, tag, chain, index)
    select of_account, changed.user_ref, changed.tag, o.chain, changed.index
        from unnest('{eth,bsc,polygon,avax,base}'::text[]) o(chain)
     where not exists (select from address a where a.account_id = of_account and a.family = 'evm'
         and a.index = changed.index and a.chain = o.chain)
       and exists (select from unnest('{active,archived}'::text[]) s(status) cross join lateral (
             select from address a where a.account_id = of_account and a.user_ref = changed.user_ref
                 and coalesce(a.tag, '') = changed.tag
                and a.chain = o.chain and a.status = s.status and a.index > changed.index and a.family = 'evm'
                and a.purpose = 'deposit'
                and a.index is not null and a.user_ref is not null
              order by a.account_id, a.user_ref, coalesce(a.tag, ''), a.chain, a.status, a.index limit 1) later)
  on conflict do nothing;
end $$;
