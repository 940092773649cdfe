-- What a block's transactions moved: value to receivers (and from the sender when there is one) where they succeeded,
-- the fee from who pays it in any case. `direction` is 1 to apply, -1 to take back.
create or replace function sandbox_move(of_ledger text, transactions jsonb, direction int) returns void
language sql set search_path = flock, pg_temp as $$
  with tx as (
    select t.value ->> 'from' as sender, (t.value ->> 'success')::boolean as success,
        (t.value ->> 'fee')::numeric as fee, coalesce(t.value ->> 'feePayer', t.value ->> 'from') as payer,
           t.value -> 'transfers' as transfers
      from jsonb_array_elements(transactions) t
  ), move as (
    select m.value ->> 'to' as address, coalesce(m.value ->> 'tokenContract', '') as token,
        (m.value ->> 'amount')::numeric as amount
      from tx cross join jsonb_array_elements(tx.transfers) m where tx.success
    union all
    select tx.sender, coalesce(m.value ->> 'tokenContract', ''), -(m.value ->> 'amount')::numeric
      from tx cross join jsonb_array_elements(tx.transfers) m where tx.success and tx.sender is not null
    union all
    select tx.payer, '', -tx.fee from tx where tx.payer is not null
  ), net as (
    select address, token, sum(amount) * direction as amount from move group by address, token having sum(amount) <> 0
  ), changed as (
    update sandbox_balance b set amount = b.amount + n.amount
      from net n where b.ledger = of_ledger and b.address = n.address and b.token = n.token
    returning b.address, b.token
  )
  insert into sandbox_balance (ledger, address, token, amount)
    select of_ledger, n.address, n.token, n.amount from net n
     where not exists (select 1 from changed c where c.address = n.address and c.token = n.token);
$$;
