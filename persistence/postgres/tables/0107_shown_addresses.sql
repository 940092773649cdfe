-- What a payer may still be shown: addresses of payments without money, and of shared links.
create index concurrently if not exists checkout_address_shown on checkout_address (account_id, lent_at, id)
  where released_at is null and (paid_at is null or payment_id is null);
