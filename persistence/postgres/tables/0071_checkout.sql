-- By whom a payment was opened, as an HMAC of the client's address: how many one may have open without money (payments
-- S20). Erased with the e-mail (S23).
alter table payment add column client_key text;
create index payment_by_client on payment (account_id, client_key)
  where client_key is not null and status = 'awaiting_payment';
-- Links whose date comes next (payments 3.2).
create index payment_link_closing on payment_link (closes_at) where status <> 'closed' and closes_at is not null;
