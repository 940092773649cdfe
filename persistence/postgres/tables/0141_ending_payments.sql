-- A link that is closed, or an account whose identity is retired, may have hundreds of thousands of payments without
-- money: the first of them expire with it, the others page by page behind it (expire_ended, payments P11, S17).
alter table payment_link add column ending boolean;
alter table account add column ending_until timestamptz;
create index account_with_payments_behind on account (account_id) where ending_until is not null; -- expire_ended

-- One that expires changes no count of its link: as many of them would write its row as often.
drop trigger payment_counted on payment;
create trigger payment_counted after update on payment for each row
  when (new.status <> old.status
    and not (old.status in ('awaiting_payment', 'expired') and new.status in ('awaiting_payment', 'expired')))
  execute function payment_counts();
