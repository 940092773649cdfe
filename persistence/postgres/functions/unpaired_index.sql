-- Of a pair (user_ref, tag) the lowest index from `base` and below `below` that has no row on an EVM network and an
-- active one on another; null for none. `tag` is '' for none. A few look-ups in `address_by_pair`, however many
-- addresses the pair has: the orders name all its columns, and a plan that sorts is off: with it, all rows of a
-- frequent pair were read. Runs as the owner: under row security a condition on coalesce(tag, '') is no condition of an
-- index, and the user's other tags were read.
create or replace function unpaired_index(of_account text, of_user text, of_tag text, of_chain text,
    base bigint, below bigint)
returns bigint language plpgsql stable security definer set search_path = flock, pg_temp
set enable_sort = off set enable_bitmapscan = off as $$
declare
  last bigint;
  edge text;
begin
  -- Most pairs have no row, or rows of one network only: the first and the last entry say so, for a tenth of what the
  -- rest costs.
  edge := (select a.chain from address a where a.account_id = of_account and a.user_ref = of_user
      and coalesce(a.tag, '') = of_tag
      and a.family = 'evm' and a.purpose = 'deposit' and a.index is not null and a.user_ref is not null
    order by a.account_id, a.user_ref, coalesce(a.tag, ''), a.chain, a.status, a.index limit 1);
  if edge is null then return null; end if;
  if edge = of_chain then
    edge := (select a.chain from address a where a.account_id = of_account and a.user_ref = of_user
        and coalesce(a.tag, '') = of_tag
        and a.family = 'evm' and a.purpose = 'deposit' and a.index is not null and a.user_ref is not null
      order by a.account_id desc, a.user_ref desc, coalesce(a.tag, '') desc, a.chain desc, a.status desc,
          a.index desc limit 1);
    if edge = of_chain then return null; end if;
  end if;
  last := greatest(base - 1,
    (select a.index from address a where a.account_id = of_account and a.user_ref = of_user
        and coalesce(a.tag, '') = of_tag
        and a.chain = of_chain and a.status = 'active' and a.index < below and a.family = 'evm'
        and a.purpose = 'deposit'
        and a.index is not null and a.user_ref is not null
      order by a.account_id desc, a.user_ref desc, coalesce(a.tag, '') desc, a.chain desc, a.status desc,
          a.index desc limit 1),
    (select a.index from address a where a.account_id = of_account and a.user_ref = of_user
        and coalesce(a.tag, '') = of_tag
        and a.chain = of_chain and a.status = 'archived' and a.index < below and a.family = 'evm'
        and a.purpose = 'deposit'
        and a.index is not null and a.user_ref is not null
      order by a.account_id desc, a.user_ref desc, coalesce(a.tag, '') desc, a.chain desc, a.status desc,
          a.index desc limit 1));
  return least(
    (select g.index from address_gap g where g.account_id = of_account and g.user_ref = of_user and g.tag = of_tag
        and g.chain = of_chain and g.index >= base and g.index < below
      order by g.account_id, g.user_ref, g.tag, g.chain, g.index limit 1),
    (select min(n.index) from unnest('{eth,bsc,polygon,avax,base}'::text[]) o(chain) cross join lateral (
       select a.index from address a where a.account_id = of_account and a.user_ref = of_user
           and coalesce(a.tag, '') = of_tag
          and a.chain = o.chain and a.status = 'active' and a.index > last and a.index < below and a.family = 'evm'
          and a.purpose = 'deposit' and a.index is not null and a.user_ref is not null
        order by a.account_id, a.user_ref, coalesce(a.tag, ''), a.chain, a.status, a.index limit 1) n
      where o.chain <> of_chain));
end $$;
grant execute on function unpaired_index to flock_app;
