-- Keys of payments from inside EVM contracts counted every frame of a transaction's trace, and clients list different ones; now
-- they count those that moved value. A fact keeps its key for ever (deposits and event ids are made of it): a transaction that
-- has a fact of before goes on under the old keys, keep_keys() finds them by value.
alter table fact add column former_key boolean not null default false;
update fact set former_key = true
 where output_index < -1 and split_part(ledger, '@', 1) in ('eth', 'bsc', 'avax', 'base', 'polygon') and transfer ->> 'tokenContract' is null;
