-- expire_ended: closed links with payments that are still to expire.
create index concurrently if not exists payment_link_ending on payment_link (account_id, id) where ending;
