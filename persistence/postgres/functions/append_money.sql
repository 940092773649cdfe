-- The part of an append that is about money: deposits and their ledger, withdrawals, what is billed. Rows come as the
-- decision made them; the tables refuse what must never be (04_deposits.sql and 05_withdrawals.sql have the states). A
-- status alone changes only a build: it expires, or gives its counter value back; nothing that was signed moves by it.
create or replace function append_money(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
begin
  if batch ? 'deposits' then
    insert into deposit as known (account_id, id, ledger, chain, txid, output_index, address_id, address, amount,
        decimals, token_contract, token_symbol, user_ref, tag, chain_tag, status, incarnation, announced, silence,
        height, block_hash, threshold, created_at, updated_at)
      select account_id, id, ledger, chain, txid, output_index, address_id, address, amount, decimals,
             token_contract, token_symbol, user_ref, tag, chain_tag, status, incarnation, announced, silence, height,
             block_hash, threshold, created_at, updated_at
        from jsonb_to_recordset(batch -> 'deposits')
          r(account_id text, id text, ledger text, chain text, txid text, output_index bigint, address_id text,
            address text, amount amount, decimals int, token_contract text, token_symbol text, user_ref text, tag text,
            chain_tag text, status text, incarnation int, announced boolean, silence text, height bigint,
            block_hash text, threshold int,
            created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      -- A node of before names none: what was decided for this payee stays.
      silence = case when known.address_id = excluded.address_id then known.silence else excluded.silence end,
      ledger = excluded.ledger, chain = excluded.chain, txid = excluded.txid, output_index = excluded.output_index,
      address_id = excluded.address_id, address = excluded.address, amount = excluded.amount,
          decimals = excluded.decimals,
      token_contract = excluded.token_contract, token_symbol = excluded.token_symbol, user_ref = excluded.user_ref,
      tag = excluded.tag, chain_tag = excluded.chain_tag, announced = excluded.announced, status = excluded.status,
          incarnation = excluded.incarnation,
      height = excluded.height, block_hash = excluded.block_hash, threshold = excluded.threshold,
      updated_at = excluded.updated_at;
    -- Its address was read before a wipe came to it: what is written after names nobody (wipe_step).
    if exists (select from jsonb_to_recordset(batch -> 'deposits') r(account_id text)
                 join wipe w on w.account_id = r.account_id and w.began_at is not null) then
      update deposit d set user_ref = null, tag = null
        from jsonb_to_recordset(batch -> 'deposits') r(account_id text, id text, address_id text)
       where d.account_id = r.account_id and d.id = r.id and (d.user_ref is not null or d.tag is not null)
         and ((select w.id from wipe w where w.account_id = r.account_id and w.status = 'running') is not null
           or (select a.wiped from address a where a.account_id = r.account_id and a.id = r.address_id));
    end if;
  end if;
  if batch ? 'ledger_entries' then
    insert into ledger_entry (deposit_id, account_id, incarnation, kind, amount, event_id)
      select deposit_id, account_id, incarnation, kind, amount, event_id
        from jsonb_to_recordset(batch -> 'ledger_entries')
          r(deposit_id text, account_id text, incarnation int, kind text, amount amount, event_id text);
  end if;
  if batch ? 'withdrawals' then
    insert into withdrawal (account_id, id, kind, role, operation_id, ledger, chain, from_address, to_address, amount,
        decimals, token_contract, token_symbol, user_ref, tag, status, unsigned, versions, txid, height, block_hash,
        fee, failure, created_at, updated_at)
      -- A node of before names no kind.
      select account_id, id, coalesce(kind, 'withdrawal'), role, operation_id, ledger, chain, from_address, to_address,
             amount, decimals, token_contract, token_symbol, user_ref, tag, status, unsigned, versions, txid, height,
             block_hash, fee, failure, created_at, updated_at
        from jsonb_to_recordset(batch -> 'withdrawals')
          r(account_id text, id text, kind text, role text, operation_id text, ledger text, chain text,
            from_address text, to_address text, amount amount, decimals int, token_contract text, token_symbol text,
            user_ref text, tag text, status text, unsigned jsonb, versions jsonb, txid text, height bigint,
            block_hash text, fee amount, failure jsonb, created_at timestamptz, updated_at timestamptz)
    on conflict (account_id, id) do update set
      ledger = excluded.ledger, chain = excluded.chain, from_address = excluded.from_address,
      to_address = excluded.to_address, token_contract = excluded.token_contract, amount = excluded.amount,
      status = excluded.status, unsigned = excluded.unsigned, versions = excluded.versions, txid = excluded.txid,
      height = excluded.height, block_hash = excluded.block_hash, fee = excluded.fee, failure = excluded.failure,
      updated_at = excluded.updated_at;
  end if;
  if batch ? 'withdrawal_statuses' then
    update withdrawal w set status = r.status, updated_at = r.updated_at, unsigned = w.unsigned - 'boundAtMs'
      from jsonb_to_recordset(batch -> 'withdrawal_statuses') r(account_id text, id text, status text,
          updated_at timestamptz)
     where w.account_id = r.account_id and w.id = r.id
       -- A build expires or gives its counter back, and nothing that was signed. A condition of no index: that of all
       -- builds is none by which one is found.
       and case when w.status = 'built' then true end;
  end if;
  if batch ? 'billables' then
    insert into billable (account_id, withdrawal_id, kind, period)
      select account_id, withdrawal_id, kind, period
        from jsonb_to_recordset(batch -> 'billables') r(account_id text, withdrawal_id text, kind text, period text);
  end if;
  if batch ? 'billable_changes' then
    insert into billable_change (account_id, withdrawal_id, nth, period, change)
      select r.account_id, r.withdrawal_id, 1 + (select count(*) from billable_change c
                 where c.account_id = r.account_id and c.withdrawal_id = r.withdrawal_id), r.period, r.change
        from jsonb_to_recordset(batch -> 'billable_changes') r(account_id text, withdrawal_id text, period text,
            change smallint);
  end if;
end $$;
