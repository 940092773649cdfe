-- What happened to a transaction (events_of_transaction.sql): few events of few kinds, so that deposits, which have
-- their ledger entries, write nothing here. Console C17.
create index event_of_transaction on event (account_id, (body ->> 'id'), version)
  where type = 'deposit_moved' or type like 'withdrawal\_%';
