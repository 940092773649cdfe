-- Where a ledger begins, known before its first block is recorded: the instant since which this installation has run the
-- chain, and the height once a node has been heard. An address that was issued since then may have been paid from there on.
create table chain_start (
  ledger text collate "C" primary key,
  since  timestamptz not null,
  height bigint constraint chain_start_height check (height >= 0)
);
grant select on chain_start to flock_app;

-- Ledgers that are followed already have begun; those with addresses and no block yet began with the oldest of them.
insert into chain_start (ledger, since, height) select ledger, clock_timestamp(), height from chain_cursor where ledger not like '%@%';
insert into chain_start (ledger, since)
  select chain, min(created_at) from address where environment = 'live' and chain is not null group by chain
  on conflict do nothing;
