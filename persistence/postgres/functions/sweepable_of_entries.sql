-- S5 of treasury: a credit adds to what can be swept of its address and asset, a reversal takes it off; an address that
-- reaches the threshold of a policy fires it. Of several
-- entries of one statement each address is touched once, in the order of its key. Runs as the owner, so that row
-- security hides nothing.
create or replace function sweepable_of_entries() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  with changed as (
    insert into sweepable as s (account_id, chain, token_contract, address, amount)
      select d.account_id, d.chain, coalesce(d.token_contract, ''), d.address, sum(e.amount)
        from added e join deposit d on d.account_id = e.account_id and d.id = e.deposit_id
       where e.kind in ('credit', 'reversal')
       group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (account_id, chain, token_contract, address) do update set amount = s.amount + excluded.amount
    returning s.account_id, s.chain, s.token_contract, s.amount)
  update sweep_policy p set fired = p.fired + 1, fired_at = coalesce(p.fired_at, clock_timestamp())
    from (select c.account_id, c.chain, c.token_contract, max(c.amount) as most from changed c group by 1, 2, 3) c
   where p.account_id = c.account_id and p.chain = c.chain and p.token_contract = c.token_contract
     and p.min_amount <= c.most;
  return null;
end $$;
