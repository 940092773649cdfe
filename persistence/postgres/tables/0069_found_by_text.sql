-- What a search finds by its text (find-store.ts). Console C16.
create index address_by_label on address (account_id, (label collate "C"))
  where label is not null and purpose = 'deposit';
create index withdrawal_by_txid on withdrawal (txid, account_id) where txid is not null;
