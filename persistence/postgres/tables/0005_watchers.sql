-- What watchers record: the cursor, the parent links, the facts about transfers, and each account's inbox.

create table chain_cursor (
  ledger text collate "C" primary key,
  height bigint not null,
  hash   text   not null
);

create table chain_head (
  ledger text collate "C" primary key,
  height bigint not null,
  at     timestamptz not null
);

-- Blocks that were followed. Those of an abandoned branch are marked, so that (height, hash) tells what we believed.
create table block_link (
  ledger        text collate "C" not null,
  height        bigint not null,
  hash          text   not null,
  parent_hash   text   not null,
  parent_height bigint not null,
  time          timestamptz,
  orphaned      boolean not null default false,
  primary key (ledger, height, hash)
);
create unique index block_link_one_branch on block_link (ledger, height) where not orphaned;

-- Heights whose content could not be proven yet: the header advanced, the content is retried for ever.
create table unresolved_height (
  ledger text collate "C" not null,
  height bigint not null,
  hash   text   not null,
  reason text   not null,
  tries  int    not null default 1,
  since  timestamptz not null default clock_timestamp(),
  primary key (ledger, height)
);

-- One fact per (ledger, txid, output index) that pays an issued address.
--   seen ──threshold and re-read──▶ matured      seen, matured ──reorg, absent──▶ orphaned ──included again──▶ seen
--   seen, matured ──reorg with unproven blocks──▶ displaced ──all proven──▶ where it was, or orphaned
create table fact (
  ledger       text collate "C" not null,
  txid         text collate "C" not null,
  output_index bigint not null,
  account_id   text collate "C" not null,
  address_key  uuid   not null,
  status       text   not null constraint fact_status check (status in ('seen', 'matured', 'orphaned', 'displaced')),
  was          text   constraint fact_was check ((was is not null) = (status = 'displaced')),
  height       bigint not null,
  block_hash   text   not null,
  transfer     jsonb  not null,
  -- Head at which its own threshold is reached: confirmations = head − height + 1 (G18).
  matures_at   bigint generated always as (height + (transfer ->> 'threshold')::bigint - 1) stored,
  constraint fact_of_account foreign key (account_id) references account (account_id)
);
create index fact_by_height on fact (ledger, height) where status <> 'orphaned';
create index fact_immature on fact (ledger, matures_at) where status = 'seen';
create index fact_of_address on fact (ledger, address_key);
create index fact_of_account on fact (account_id);
alter table fact add constraint fact_once primary key (txid, output_index, ledger);

-- Facts that an account has not taken, in order. `subject` is the transfer or withdrawal, `fact_key` says which word about
-- it: a word that is the last one waiting is not said again, but seen, orphaned, seen are three.
create table inbox (
  id         bigint generated always as identity,
  account_id text collate "C" not null references account,
  subject    text collate "C" not null,
  fact_key   text collate "C" not null,
  fact       jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
create index inbox_age on inbox (created_at);
create index inbox_of_account on inbox (account_id, id);
create index inbox_of_subject on inbox (subject, account_id, id);
alter table inbox add primary key (id, account_id);

-- I8: the cursor moves from a block to its child, or with a whole branch by record_reorg.
create function cursor_follows_parent() returns trigger language plpgsql as $$
begin
  if new.ledger <> old.ledger or (current_setting('flock.reorg', true) is distinct from new.ledger and not exists (
       select 1 from block_link l where l.ledger = new.ledger and l.height = new.height and l.hash = new.hash
          and not l.orphaned and l.parent_hash = old.hash and l.parent_height = old.height)) then
    raise exception 'the cursor of % cannot move from % to %', old.ledger, old.height, new.height
      using errcode = 'check_violation', constraint = 'cursor_follows_parent', table = 'chain_cursor';
  end if;
  return new;
end $$;
create trigger cursor_follows_parent before update on chain_cursor
  for each row execute function cursor_follows_parent();

-- Puts facts into inboxes, in order; answers the accounts that they touch.
create function post_facts(entries jsonb) returns text[] language plpgsql set search_path = flock, pg_temp as $$
begin
  with word as (
    select n, e.value ->> 'accountId' as account_id, e.value -> 'fact' as fact, concat_ws('|', e.value -> 'fact' ->> 'withdrawalId',
             e.value -> 'fact' -> 'deposit' ->> 'ledger', e.value -> 'fact' -> 'deposit' ->> 'txid', e.value -> 'fact' -> 'deposit' ->> 'outputIndex') as subject,
           concat_ws('|', e.value -> 'fact' ->> 'kind', e.value -> 'fact' ->> 'txid', e.value -> 'fact' ->> 'blockHash',
             e.value -> 'fact' -> 'deposit' ->> 'blockHash') as fact_key
      from jsonb_array_elements(entries) with ordinality e(value, n)
  ), ordered as (
    select w.*, lag(fact_key) over (partition by account_id, subject order by n) as before from word w
  )
  insert into inbox (account_id, subject, fact_key, fact)
    select account_id, subject, fact_key, fact from ordered o
     -- An aggregate and not ORDER BY … LIMIT 1, which could be answered by reading the whole inbox backwards.
     where fact_key is distinct from coalesce(before, (
       select (array_agg(i.fact_key order by i.id desc))[1] from inbox i where i.subject = o.subject and i.account_id = o.account_id))
     order by n;
  return array(select distinct e.value ->> 'accountId' from jsonb_array_elements(entries) e(value));
end $$;

-- Records the transfers of one proven block and answers what became of each, as inbox entries:
-- new or orphaned before → seen; known in another block → moved; known in this block → nothing; another movement under
-- the key of one that stands → that one orphaned, this one seen.
-- Its lists are joined by hash, which a node's session does not do by itself; the facts are fenced off by OFFSET 0, so
-- that they are still looked up one by one.
create function record_transfers(of_ledger text, transfers jsonb) returns jsonb
language plpgsql set search_path = flock, pg_temp set enable_hashjoin = on as $$
declare
  entries jsonb;
begin
  if jsonb_array_length(transfers) = 0 then return '[]'; end if;
  with incoming as materialized (
    select t.value as transfer, n, t.value ->> 'txid' as txid, (t.value ->> 'outputIndex')::bigint as output_index
      from jsonb_array_elements(transfers) with ordinality t(value, n)
  ), known as materialized (
    select f.txid, f.output_index, f.status, f.height, f.block_hash, f.account_id, f.transfer,
           f.status <> 'orphaned' and (f.account_id, f.transfer ->> 'addressId', f.transfer ->> 'amount', f.transfer ->> 'tokenContract')
             is distinct from (i.transfer ->> 'accountId', i.transfer ->> 'addressId', i.transfer ->> 'amount',
                               i.transfer ->> 'tokenContract') as changed
      from incoming i cross join lateral (
        select * from fact where ledger = of_ledger and txid = i.txid and output_index = i.output_index offset 0) f
  ), written as (
    insert into fact as f (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      select of_ledger, i.txid, i.output_index, i.transfer ->> 'accountId', (i.transfer ->> 'addressKey')::uuid, 'seen',
             (i.transfer ->> 'height')::bigint, i.transfer ->> 'blockHash', i.transfer - 'accountId' - 'addressKey'
        from incoming i order by n
    on conflict on constraint fact_once do update
      set status = case
            when (f.account_id, f.transfer ->> 'addressId', f.transfer ->> 'amount', f.transfer ->> 'tokenContract')
              is distinct from (excluded.account_id, excluded.transfer ->> 'addressId', excluded.transfer ->> 'amount',
                                excluded.transfer ->> 'tokenContract') then 'seen'
            when f.status = 'orphaned' then 'seen' when f.status = 'displaced' then f.was else f.status end,
          was = null, account_id = excluded.account_id, address_key = excluded.address_key,
          height = excluded.height, block_hash = excluded.block_hash, transfer = excluded.transfer
      where (f.height, f.block_hash) <> (excluded.height, excluded.block_hash) or f.status in ('orphaned', 'displaced')
    returning f.txid, f.output_index
  ), told as (
    select i.n, 0 as part, k.account_id, 'orphaned' as kind, k.transfer as deposit
      from incoming i join written w using (txid, output_index) join known k using (txid, output_index)
     where k.changed
    union all
    select i.n, 1, i.transfer ->> 'accountId', case when k.txid is null or k.status = 'orphaned' or k.changed then 'seen' else 'moved' end,
           i.transfer - 'accountId' - 'addressKey'
      from incoming i join written w using (txid, output_index) left join known k using (txid, output_index)
     -- A displaced one that is found in the very block it was in needs no word.
     where k.txid is null or k.status = 'orphaned'
        or (k.height, k.block_hash) <> ((i.transfer ->> 'height')::bigint, i.transfer ->> 'blockHash')
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', kind, 'deposit', deposit)) order by n, part), '[]') into entries from told;
  return entries;
end $$;

-- Links of a ledger are kept for this many heights below its cursor: more than twice any chain's reorg window (G15).
create function links_kept() returns bigint language sql immutable as $$ select 10000::bigint $$;

create function record_link(of_ledger text, link jsonb) returns void language sql set search_path = flock, pg_temp as $$
  insert into block_link (ledger, height, hash, parent_hash, parent_height, time)
    values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash', link ->> 'parentHash',
            (link ->> 'parentHeight')::bigint, (link ->> 'time')::timestamptz)
  on conflict (ledger, height, hash) do update set orphaned = false;
$$;

create function record_unresolved(of_ledger text, link jsonb, why text) returns void
language sql set search_path = flock, pg_temp as $$
  insert into unresolved_height (ledger, height, hash, reason)
    values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash', why)
  on conflict (ledger, height) do update
    set hash = excluded.hash, reason = excluded.reason, tries = unresolved_height.tries + 1;
$$;

-- One block, once: null when another watcher moved the cursor first, else the accounts touched. G7, I8.
create function record_block(of_ledger text, record jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  link jsonb := record -> 'link';
  previous jsonb := nullif(record -> 'previous', 'null');
begin
  if previous is null then
    insert into chain_cursor (ledger, height, hash) values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash')
      on conflict do nothing;
    if not found then return null; end if;
    perform record_link(of_ledger, link);
  else
    perform 1 from chain_cursor where ledger = of_ledger and height = (previous ->> 'height')::bigint
       and hash = previous ->> 'hash' for update;
    if not found then return null; end if;
    perform record_link(of_ledger, link);
    update chain_cursor set height = (link ->> 'height')::bigint, hash = link ->> 'hash' where ledger = of_ledger;
  end if;
  delete from block_link l where l.ledger = of_ledger and l.height < (link ->> 'height')::bigint - links_kept()
     and not exists (select 1 from unresolved_height u where u.ledger = l.ledger and u.height = l.height);
  if record ->> 'unresolved' is not null then
    perform record_unresolved(of_ledger, link, record ->> 'unresolved');
  end if;
  return post_facts(record_transfers(of_ledger, record -> 'transfers') || (record -> 'withdrawals'));
end $$;

-- Displaced facts that no unproven block can hold any more are gone from the chain.
create function settle_displaced(of_ledger text) returns jsonb language plpgsql set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  if exists (select 1 from unresolved_height where ledger = of_ledger)
     or not exists (select 1 from fact where ledger = of_ledger and status = 'displaced') then
    return '[]';
  end if;
  with gone as (
    update fact set status = 'orphaned', was = null where ledger = of_ledger and status = 'displaced'
    returning account_id, transfer, txid, output_index
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by txid, output_index), '[]')
    into entries from gone;
  return entries;
end $$;

-- The content of an unresolved height, proven later: null when it is resolved already or the branch was abandoned.
create function resolve_height(of_ledger text, record jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  link jsonb := record -> 'link';
  entries jsonb;
begin
  -- The cursor's row orders this against record_block and record_reorg of the same ledger.
  perform 1 from chain_cursor where ledger = of_ledger for update;
  delete from unresolved_height where ledger = of_ledger and height = (link ->> 'height')::bigint and hash = link ->> 'hash';
  if not found then return null; end if;
  entries := record_transfers(of_ledger, record -> 'transfers') || (record -> 'withdrawals');
  return post_facts(entries || settle_displaced(of_ledger));
end $$;

-- Transfers of a done height that pay addresses younger than the block. Facts that exist are left alone; nothing is
-- written when the hash is no longer the recorded one.
create function record_late(of_ledger text, at_height bigint, at_hash text, transfers jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  perform 1 from chain_cursor where ledger = of_ledger for update;
  if not exists (select 1 from block_link where ledger = of_ledger and height = at_height and hash = at_hash and not orphaned) then
    return '{}';
  end if;
  return post_facts(record_transfers(of_ledger, coalesce((
    select jsonb_agg(t.value order by n) from jsonb_array_elements(transfers) with ordinality t(value, n)
     where not exists (select 1 from fact f where f.ledger = of_ledger and f.txid = t.value ->> 'txid'
                          and f.output_index = (t.value ->> 'outputIndex')::bigint)), '[]')));
end $$;

-- Replaces the branch above a fork point by a new one that was read up to the old head first. Decisions 5.
-- A fact that is absent from the new branch is orphaned; while a block of it is unproven nothing is known to be absent.
create function record_reorg(of_ledger text, fork jsonb, old_head jsonb, branch jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  fork_height bigint := (fork ->> 'height')::bigint;
  block jsonb;
  newest jsonb := fork;
  entries jsonb := '[]';
  withdrawals jsonb := '[]';
begin
  perform 1 from chain_cursor where ledger = of_ledger and height = (old_head ->> 'height')::bigint
     and hash = old_head ->> 'hash' for update;
  if not found then return null; end if;
  update block_link set orphaned = true where ledger = of_ledger and height > fork_height and not orphaned;
  delete from unresolved_height where ledger = of_ledger and height > fork_height;
  update fact set was = status, status = 'displaced'
   where ledger = of_ledger and height > fork_height and status in ('seen', 'matured');
  for block in select value from jsonb_array_elements(branch) with ordinality b(value, n) order by n loop
    if block -> 'link' ->> 'parentHash' <> newest ->> 'hash' then
      raise exception 'block % of the new branch of % does not follow %', block -> 'link' ->> 'height', of_ledger, newest ->> 'hash'
        using errcode = 'check_violation', constraint = 'branch_is_linked';
    end if;
    newest := block -> 'link';
    perform record_link(of_ledger, newest);
    if block ->> 'unresolved' is not null then
      perform record_unresolved(of_ledger, newest, block ->> 'unresolved');
    end if;
    entries := entries || record_transfers(of_ledger, block -> 'transfers');
    withdrawals := withdrawals || (block -> 'withdrawals');
  end loop;
  perform set_config('flock.reorg', of_ledger, true);
  update chain_cursor set height = (newest ->> 'height')::bigint, hash = newest ->> 'hash' where ledger = of_ledger;
  perform set_config('flock.reorg', '', true);
  entries := entries || settle_displaced(of_ledger);
  return post_facts(entries || absent_withdrawals(of_ledger, fork_height, withdrawals) || withdrawals);
end $$;

-- Withdrawals that were included above a fork point and are not in the new branch, as `withdrawal_orphaned` entries.
create function absent_withdrawals(of_ledger text, fork_height bigint, included jsonb) returns jsonb
language sql set search_path = flock, pg_temp as $$
  select coalesce(jsonb_agg(jsonb_build_object('accountId', w.account_id, 'fact', jsonb_build_object(
           'kind', 'withdrawal_orphaned', 'withdrawalId', w.id, 'txid', w.txid, 'height', w.height,
           'blockHash', w.block_hash, 'success', false, 'reason', 'reorg', 'fee', null)) order by w.id), '[]')
    from withdrawal w
   where w.ledger = of_ledger and w.status = 'confirming' and w.height > fork_height
     and not exists (select 1 from jsonb_array_elements(included) i where i -> 'fact' ->> 'withdrawalId' = w.id);
$$;

-- Marks facts matured that are still in the block that was read again (G19).
create function mature_facts(of_ledger text, facts jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  with matured as (
    update fact f set status = 'matured', transfer = f.transfer || jsonb_build_object('confirmations', r."confirmations")
      from jsonb_to_recordset(facts) r("txid" text, "outputIndex" bigint, "blockHash" text, "confirmations" int)
     where f.ledger = of_ledger and f.txid = r.txid and f.output_index = r."outputIndex"
       and f.block_hash = r."blockHash" and f.status = 'seen'
    returning f.account_id, f.height, f.txid, f.output_index, f.transfer
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'matured', 'deposit', transfer)) order by height, txid, output_index), '[]')
    into entries from matured;
  return post_facts(entries);
end $$;

-- Marks facts orphaned that the re-read of G19 refuted in their own block.
create function refute_facts(of_ledger text, facts jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  with refuted as (
    update fact f set status = 'orphaned'
      from jsonb_to_recordset(facts) r("txid" text, "outputIndex" bigint, "blockHash" text)
     where f.ledger = of_ledger and f.txid = r."txid" and f.output_index = r."outputIndex"
       and f.block_hash = r."blockHash" and f.status = 'seen'
    returning f.account_id, f.height, f.txid, f.output_index, f.transfer
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by height, txid, output_index), '[]')
    into entries from refuted;
  return post_facts(entries);
end $$;

create function note_withdrawal_fact(of_account text, fact jsonb) returns void
language sql security definer set search_path = flock, pg_temp as $$
  select post_facts(jsonb_build_array(jsonb_build_object('accountId', of_account, 'fact', fact)));
$$;

create function note_unresolved(of_ledger text, at_height bigint, why text) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update unresolved_height set tries = tries + 1, reason = why where ledger = of_ledger and height = at_height;
$$;

create function note_head(of_ledger text, head_height bigint, seen_at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_head (ledger, height, at) values (of_ledger, head_height, seen_at)
  on conflict (ledger) do update set height = excluded.height, at = excluded.at where chain_head.at <= excluded.at;
$$;

-- Reads over all accounts: only these leave the rows of one tenant's reach.
create function watched_addresses(of_environment text, keys uuid[])
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select r.address_key, r.address_id, r.account_id, a.address, a.purpose
    from address_registry r join address a on a.account_id = r.account_id and a.id = r.address_id
   where r.address_key = any (keys) and a.environment = of_environment;
$$;

create function addresses_since(of_environment text, since timestamptz)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select address_key, id, account_id, address, purpose from address where created_at >= since and environment = of_environment;
$$;

create function immature_facts(of_ledger text, head_height bigint, most int) returns setof jsonb
language sql stable security definer set search_path = flock, pg_temp as $$
  select transfer from fact where ledger = of_ledger and status = 'seen' and matures_at <= head_height
   order by height, txid, output_index limit most;
$$;

-- Withdrawals whose signed versions may still land or be orphaned: those that are under way first, oldest first. A burst
-- of settled ones, kept for the reorg window, takes no place from one that waits for its block.
create function open_withdrawals(of_ledger text, since_height bigint, most int) returns setof withdrawal
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.* from withdrawal w
   where w.ledger = of_ledger and jsonb_array_length(w.versions) > 0
     and (w.status in ('signing', 'broadcast', 'confirming')
          or (w.status in ('confirmed', 'failed') and w.height >= since_height))
   order by w.status in ('confirmed', 'failed'), w.created_at, w.id limit most;
$$;

create function accounts_with_inbox(older_than timestamptz, most int) returns setof text
language sql stable security definer set search_path = flock, pg_temp as $$
  select distinct account_id from (
    select account_id from inbox where created_at < older_than order by created_at limit most * 20) oldest limit most;
$$;
