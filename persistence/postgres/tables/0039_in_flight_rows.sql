-- What an account has on its way is read from its rows when it is loaded, and is in its snapshot no more (F58, F83).
drop index account_with_counters;
alter table account drop column has_counters;
create index withdrawal_in_flight on withdrawal (account_id) where status in ('signing', 'broadcast', 'confirming');
create index withdrawal_builds on withdrawal (account_id, updated_at) where status = 'built';
-- Builds that nobody signed, by the instant at which they expire.
create index withdrawal_unsigned on withdrawal (updated_at, account_id, id) where status = 'built';
-- Of two signed withdrawals of a sender with one counter value at most one can land: the second is never stored. Versions of one
-- withdrawal share the value and are one row. One that is in a block is left out: it was given up, its value was given
-- again, and it landed all the same.
create unique index withdrawal_counter_once on withdrawal
    (account_id, ledger, from_address, ((unsigned -> 'replayKey' ->> 'value')::numeric))
 where status in ('signing', 'broadcast') and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence');
