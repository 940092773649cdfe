-- Loads and fences an account in one UPDATE: an owner with an older epoch can no longer write. The rest is null when the
-- caller's epoch is older than the account's or not the shard's, which alone mints them; `known` tells that from a missing account. The
-- version counts events, so it stays: of two incarnations under one epoch the first append makes the other stale.
create or replace function load_account(wanted text, epoch bigint)
returns table (known boolean, account_version bigint, account_epoch bigint, account_state jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  with fenced as (
    update account a set owner_epoch = epoch
     where a.account_id = wanted and a.owner_epoch <= epoch
       and epoch = (select s.epoch from shard s where s.id = a.shard_id)
    returning a.version, a.owner_epoch, a.state
  )
  select exists (select 1 from account where account_id = wanted), f.version, f.owner_epoch, f.state
    from (select 1) one left join fenced f on true;
$$;
grant execute on function load_account to flock_app;
