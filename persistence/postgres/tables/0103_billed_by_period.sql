-- What a month was billed for, one by one, page after page (BillingStore.billedOf). Made while nodes write.
create index concurrently if not exists billable_of_period on billable (account_id, period, withdrawal_id);
create index concurrently if not exists billable_change_of_period on billable_change
  (account_id, period, withdrawal_id, nth);
drop index concurrently if exists billable_by_period;
drop index concurrently if exists billable_change_by_period;
