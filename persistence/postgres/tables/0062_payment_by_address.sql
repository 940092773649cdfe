-- Payments of an address, found when a sandbox reset deletes the address.
create index payment_by_address on payment (account_id, address_id);
