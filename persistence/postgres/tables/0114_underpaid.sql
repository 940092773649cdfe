-- Payments that ask for their rest: what payers are still shown (payments E5).
create index concurrently if not exists payment_underpaid on payment (account_id, id) where status = 'underpaid';
