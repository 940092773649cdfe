-- S5 of treasury: a credit adds to what can be swept of its address and asset, a reversal takes it off. Of several
-- entries of one statement each address is touched once, in the order of its key. Runs as the owner, so that row
-- security hides nothing.
create or replace function sweepable_of_entries() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into sweepable as s (account_id, chain, token_contract, address, amount)
    select d.account_id, d.chain, coalesce(d.token_contract, ''), d.address, sum(e.amount)
      from added e join deposit d on d.account_id = e.account_id and d.id = e.deposit_id
     where e.kind in ('credit', 'reversal')
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, chain, token_contract, address) do update set amount = s.amount + excluded.amount;
  return null;
end $$;
