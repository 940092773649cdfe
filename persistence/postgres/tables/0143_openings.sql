-- How many payments without money one e-mail has open on a link: payments S20.
create index concurrently if not exists payment_open_by_email on payment (account_id, link_id, lower(customer_email))
  where status = 'awaiting_payment' and customer_email is not null;
