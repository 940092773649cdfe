-- What the audit counts of an address, in the order of its heights (audit_rows.sql). Made while the nodes append.
create index concurrently if not exists fact_of_address_by_height on fact (ledger, address_key, height)
  where status <> 'orphaned';
drop index concurrently if exists fact_of_address;
create index concurrently if not exists withdrawal_by_sender_height on withdrawal (from_address, ledger, height)
  where height is not null;
drop index concurrently if exists withdrawal_by_sender;
create index concurrently if not exists discrepancy_by_height on discrepancy (ledger, address_id, height)
  where kind = 'unattributed';
