-- Invoices, and the links that their letters carry. payments part 7.

-- I1, I7: set once, with the invoice, and the same whatever becomes of the payment.
alter table payment add column invoice_id text collate "C";
alter table payment add column invoice_number text;
alter table payment add constraint payment_invoice_numbered
  check ((invoice_id is null) = (invoice_number is null)) not valid;
create trigger payment_invoice_kept before update on payment for each row
  when (old.invoice_id is not null and (new.invoice_id, new.invoice_number)
        is distinct from (old.invoice_id, old.invoice_number))
  execute function refuse('payment_invoice_kept');

-- I2: numbers are the account's, of a year, from 1 without a gap: invoice_in_turn.
create table invoice (
  account_id     text collate "C" not null,
  id             text collate "C" not null,
  link_id        text collate "C" not null,
  payment_id     text collate "C" not null,
  year           int  not null,
  number         int  not null constraint invoice_number_positive check (number >= 1),
  issued_at      timestamptz not null,
  time_zone      text not null,
  language       text,
  chain          text not null,
  asset          text not null,
  token_contract text,
  decimals       int  not null,
  address        text collate "C" not null,
  amount         amount,
  paid           amount not null constraint invoice_paid_positive check (paid > 0),
  overpaid       amount not null,
  short          amount not null,
  seller_name    text,
  seller_address text,
  seller_tax_id  text,
  support_email  text,
  customer_email text not null,
  customer_name  text,
  title          text,
  description    text,
  -- JSON as it was decided.
  transfers      text not null,
  constraint invoice_once primary key (account_id, id),
  constraint invoice_number_once unique (account_id, year, number),
  constraint invoice_of_payment_once unique (account_id, payment_id),
  constraint invoice_of_payment foreign key (account_id, payment_id, link_id)
    references payment (account_id, id, link_id)
);
create index invoice_by_link on invoice (account_id, link_id, id);
create trigger invoice_in_turn before insert on invoice for each row execute function invoice_in_turn();
create trigger invoice_append_only before update or delete on invoice
  for each row execute function append_only('invoice');
create trigger invoice_not_truncated before truncate on invoice
  for each statement execute function append_only('invoice');
alter table list_count drop constraint list_count_list;
alter table list_count add constraint list_count_list
  check (list in ('address', 'deposit', 'withdrawal', 'delivery', 'payment_link', 'invoice'));
create trigger invoice_counted after insert on invoice referencing new table as changed
  for each statement execute function count_listed('invoice');
create trigger invoice_uncounted after delete on invoice referencing old table as changed
  for each statement execute function count_listed('invoice');

-- Of one tenant.
alter table invoice enable row level security, force row level security;
create policy tenant on invoice for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on invoice to flock_owner using (true) with check (true);
grant select on invoice to flock_app;

-- I4, I6: the one link of an invoice that works. Its token is made when a letter leaves, or for an answer; here is its
-- hash alone. `letter_id` is the letter that may carry it: one of before is not sent any more.
create table invoice_link (
  account_id text collate "C" not null,
  invoice_id text collate "C" not null,
  hash       text collate "C" not null constraint invoice_link_hash check (hash ~ '^[0-9a-f]{64}$'),
  letter_id  text collate "C" not null,
  minted_at  timestamptz not null,
  -- When it was asked for again: the newest five.
  resent     timestamptz[] not null default '{}',
  constraint invoice_link_once primary key (account_id, invoice_id),
  constraint invoice_link_hash_once unique (hash),
  constraint invoice_link_of_invoice foreign key (account_id, invoice_id) references invoice (account_id, id)
);

-- Of one tenant.
alter table invoice_link enable row level security, force row level security;
create policy tenant on invoice_link for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on invoice_link to flock_owner using (true) with check (true);
grant select on invoice_link to flock_app;
