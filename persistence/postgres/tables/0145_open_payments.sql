-- What whoever opens a payment counts, and finds of its own (openings). None begins with the account, which has
-- millions, and whether a payment waits is an expression to the planner: each of them is the only index by which what
-- it is for can be found, whatever the statistics say (payments S20).
create index concurrently if not exists payment_open_of_link on payment (link_id, id)
  where case when status = 'awaiting_payment' then true end;
create index concurrently if not exists payment_open_of_client on payment (client_key, id)
  where client_key is not null and case when status = 'awaiting_payment' then true end;
create index concurrently if not exists payment_open_of_email on payment ((link_id || ' ' || lower(customer_email)), id)
  where customer_email is not null and case when status = 'awaiting_payment' then true end;
create index concurrently if not exists payment_of_payer on payment (payer_key, link_id, id)
  where payer_key is not null;
drop index concurrently if exists payment_open_by_email;
drop index concurrently if exists payment_by_payer;
