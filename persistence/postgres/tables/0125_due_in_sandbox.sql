-- What is due for one account by its own time (due_in_sandbox).
create index concurrently if not exists payment_expiring_of_account on payment (account_id, expires_at)
  where status = 'awaiting_payment';
create index concurrently if not exists payment_link_closing_of_account on payment_link (account_id, closes_at)
  where status <> 'closed' and closes_at is not null;
create index concurrently if not exists payment_link_monitored_of_account on payment_link (account_id, monitor_until)
  where status = 'closed' and monitored_at is null;
