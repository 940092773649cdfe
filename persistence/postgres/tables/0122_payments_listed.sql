-- Payments of an account towards all of its links, by status, newest first (GET /v1/payments).
create index concurrently if not exists payment_listed on payment (account_id, status, id);
