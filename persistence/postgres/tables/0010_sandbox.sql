-- The simulated ledgers of sandbox accounts. A ledger's id ends with its account: eth@org_…_sandbox.

-- Head of each ledger, and until when it answers nobody (simulate-chain-down).
create table sandbox_ledger (
  ledger     text collate "C" primary key constraint sandbox_ledger_form check (ledger like '%@%\_sandbox'),
  height     bigint,
  hash       text,
  down_until timestamptz
);

create table sandbox_block (
  ledger       text collate "C" not null references sandbox_ledger,
  height       bigint not null,
  hash         text   not null,
  parent_hash  text   not null,
  time         timestamptz not null,
  transactions jsonb  not null,
  primary key (ledger, height)
);

create table sandbox_transaction (
  ledger       text collate "C" not null,
  txid         text collate "C" not null,
  height       bigint not null,
  position     int    not null,
  from_address text collate "C",
  nonce        bigint,
  constraint sandbox_transaction_of_block foreign key (ledger, height) references sandbox_block (ledger, height) on delete cascade
);
create unique index sandbox_nonce_once on sandbox_transaction (ledger, from_address, nonce) where nonce is not null;
create index sandbox_transaction_of_height on sandbox_transaction (ledger, height);
alter table sandbox_transaction add constraint sandbox_transaction_once primary key (txid, ledger);

-- `token` is '' for the native coin.
create table sandbox_balance (
  ledger  text collate "C" not null,
  address text collate "C" not null,
  token   text collate "C" not null,
  amount  amount not null constraint sandbox_balance_not_negative check (amount >= 0),
  primary key (ledger, address, token)
);

create table sandbox_task (
  id         text collate "C" primary key,
  account_id text collate "C" not null references account,
  due_at     timestamptz not null,
  task       jsonb not null
);
create index sandbox_task_due on sandbox_task (due_at);
create index sandbox_task_of_account on sandbox_task (account_id);

-- What a block's transactions moved: value to receivers (and from the sender when there is one) where they succeeded,
-- the fee from the sender in any case. `direction` is 1 to apply, -1 to take back.
create function sandbox_move(of_ledger text, transactions jsonb, direction int) returns void
language sql set search_path = flock, pg_temp as $$
  with tx as (
    select t.value ->> 'from' as sender, (t.value ->> 'success')::boolean as success, (t.value ->> 'fee')::numeric as fee,
           t.value -> 'transfers' as transfers
      from jsonb_array_elements(transactions) t
  ), move as (
    select m.value ->> 'to' as address, coalesce(m.value ->> 'tokenContract', '') as token, (m.value ->> 'amount')::numeric as amount
      from tx cross join jsonb_array_elements(tx.transfers) m where tx.success
    union all
    select tx.sender, coalesce(m.value ->> 'tokenContract', ''), -(m.value ->> 'amount')::numeric
      from tx cross join jsonb_array_elements(tx.transfers) m where tx.success and tx.sender is not null
    union all
    select tx.sender, '', -tx.fee from tx where tx.sender is not null
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

-- Appends blocks above `expected` ({height, hash}, or null at the first one); false when the ledger moved meanwhile.
create function sandbox_mine(of_ledger text, expected jsonb, blocks jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  head sandbox_ledger;
  block jsonb;
begin
  insert into sandbox_ledger (ledger) values (of_ledger) on conflict do nothing;
  select * into head from sandbox_ledger where ledger = of_ledger for update;
  if head.hash is distinct from expected ->> 'hash' or head.height is distinct from (expected ->> 'height')::bigint then
    return false;
  end if;
  for block in select value from jsonb_array_elements(blocks) with ordinality b(value, n) order by n loop
    if head.hash is not null and (block ->> 'parentHash' <> head.hash or (block ->> 'height')::bigint <> head.height + 1) then
      raise exception 'block % of % does not follow its parent', block ->> 'height', of_ledger
        using errcode = 'check_violation', constraint = 'sandbox_block_is_linked', table = 'sandbox_block';
    end if;
    head.height := (block ->> 'height')::bigint;
    head.hash := block ->> 'hash';
    insert into sandbox_block (ledger, height, hash, parent_hash, time, transactions)
      values (of_ledger, head.height, head.hash, block ->> 'parentHash', (block ->> 'time')::timestamptz, block -> 'transactions');
    insert into sandbox_transaction (ledger, txid, height, position, from_address, nonce)
      select of_ledger, t.value ->> 'txid', head.height, n - 1, t.value ->> 'from', (t.value ->> 'nonce')::bigint
        from jsonb_array_elements(block -> 'transactions') with ordinality t(value, n);
    perform sandbox_move(of_ledger, block -> 'transactions', 1);
  end loop;
  update sandbox_ledger set height = head.height, hash = head.hash where ledger = of_ledger;
  return true;
end $$;

-- Removes the newest blocks, newest first, and takes their movements back.
create function sandbox_unmine(of_ledger text, depth int) returns setof sandbox_block
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  block sandbox_block;
begin
  perform 1 from sandbox_ledger where ledger = of_ledger for update;
  for block in select * from sandbox_block where ledger = of_ledger order by height desc limit depth loop
    perform sandbox_move(of_ledger, block.transactions, -1);
    delete from sandbox_block where ledger = of_ledger and height = block.height;
    return next block;
  end loop;
  update sandbox_ledger l set (height, hash) = (
      select b.height, b.hash from sandbox_block b where b.ledger = of_ledger order by b.height desc limit 1)
   where l.ledger = of_ledger;
end $$;

-- Leases due tasks: one that is not finished in time is due again.
create function take_sandbox_tasks(now_at timestamptz, lease_until timestamptz, most int)
returns table (task_id text, task_account text, task_body jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  with due as materialized (
    select id, due_at from sandbox_task where due_at <= now_at order by due_at, id limit most for update skip locked
  ), taken as (
    update sandbox_task t set due_at = lease_until from due where t.id = due.id
    returning t.id, t.account_id, t.task, due.due_at
  )
  select id, account_id, task from taken order by due_at, id;
$$;

-- Ledgers with work left: mined by a process that died before its tick, or with a signed withdrawal that is in no block.
create function sandbox_behind(most int) returns setof text
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.ledger from sandbox_ledger l left join chain_cursor c using (ledger)
   where l.height is not null and (l.height, l.hash) is distinct from (c.height, c.hash)
  union
  select w.ledger from withdrawal w
   where w.status in ('signing', 'broadcast') and w.ledger like '%@%\_sandbox' and jsonb_array_length(w.versions) > 0
  order by 1 limit most;
$$;

-- The simulated ledgers of an account with what watchers recorded of them, and its tasks.
create function reset_sandbox_ledgers(of_account text) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  ledgers text[] := array(select chain || '@' || of_account
                            from unnest('{btc,eth,bsc,polygon,avax,base,tron,sol,xrp,xlm}'::text[]) chain);
begin
  if of_account not like '%\_sandbox' then -- I10: a live account has no simulated ledger to reset
    raise exception 'account % is no sandbox', of_account using errcode = 'check_violation', constraint = 'reset_only_sandbox';
  end if;
  delete from sandbox_block where ledger = any (ledgers);
  delete from sandbox_balance where ledger = any (ledgers);
  delete from sandbox_ledger where ledger = any (ledgers);
  delete from sandbox_task where account_id = of_account;
  delete from fact where ledger = any (ledgers);
  delete from unresolved_height where ledger = any (ledgers);
  delete from block_link where ledger = any (ledgers);
  delete from chain_cursor where ledger = any (ledgers);
  delete from chain_head where ledger = any (ledgers);
  delete from discrepancy where ledger = any (ledgers);
end $$;

-- What a sandbox account issued, saw, sent and delivered. Its events, keys, endpoints, own addresses and pools stay.
create function reset_sandbox(of_account text) returns void language plpgsql set search_path = flock, pg_temp as $$
declare
  step text;
begin
  perform reset_sandbox_ledgers(of_account);
  perform set_config('flock.sandbox_reset', of_account, true);
  delete from attempt a using delivery d where d.account_id = of_account and a.delivery_id = d.id;
  delete from delivery where account_id = of_account;
  -- A reversal points at its credit, a credit at its detection.
  foreach step in array array['reversal', 'credit', 'detected'] loop
    delete from ledger_entry e using deposit d where d.account_id = of_account and e.deposit_id = d.id and e.kind = step;
  end loop;
  delete from publication where account_id = of_account;
  delete from deposit where account_id = of_account;
  delete from billable where account_id = of_account;
  delete from withdrawal where account_id = of_account;
  delete from inbox where account_id = of_account;
  delete from address_registry g using address a
   where a.account_id = of_account and a.purpose = 'deposit' and g.address_key = a.address_key and g.account_id = a.account_id;
  delete from address where account_id = of_account and purpose = 'deposit';
  perform set_config('flock.sandbox_reset', '', true);
end $$;
