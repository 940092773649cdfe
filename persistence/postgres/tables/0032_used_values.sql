-- The highest counter value that a sender's transactions used in blocks: one step of an index, however many there are. G15.
create index withdrawal_used_value on withdrawal
    (account_id, ledger, from_address, ((unsigned -> 'replayKey' ->> 'value')::numeric))
 where height is not null and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence');
