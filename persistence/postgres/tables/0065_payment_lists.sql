-- The list of payment links: whole by id, filtered by chain, status and mode, or the one of a slug; its length is kept.
create index payment_link_listed on payment_link (account_id, chain, status, mode, id);
create unique index payment_link_by_slug on payment_link (slug);
alter table list_count drop constraint list_count_list;
alter table list_count add constraint list_count_list
  check (list in ('address', 'deposit', 'withdrawal', 'delivery', 'payment_link'));
create trigger payment_link_counted after insert on payment_link referencing new table as changed
  for each statement execute function count_listed('payment_link');
create trigger payment_link_uncounted after delete on payment_link referencing old table as changed
  for each statement execute function count_listed('payment_link');

-- S16 of payments: when a lent address first received while a holder had it. Until then it takes no place of the plan,
-- and only until then it may be lent on.
alter table checkout_address add column paid_at timestamptz;

-- A payment is found by its id alone, whoever asks, and by who opened it (payments S2).
create unique index payment_by_id on payment (id);
create index payment_by_payer on payment (account_id, link_id, payer_key, id) where payer_key is not null;
