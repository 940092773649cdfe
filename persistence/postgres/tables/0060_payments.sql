-- Payment links, payments towards them, the addresses that were lent, and what came in on those. Written by
-- append_payments, with the decision about the deposit; money is derived here, from append-only entries that hang on
-- the ledger's own (payments M5).

-- One namespace of slugs over all accounts and both environments; never free again, also not after a sandbox reset: a
-- printed code must not lead to somebody else (payments P6).
create table pay_slug (
  slug       text collate "C" not null,
  account_id text collate "C" not null references account,
  link_id    text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint pay_slug_once primary key (slug),
  constraint pay_slug_form check (slug ~ '^[a-z0-9](?:[a-z0-9]|-(?!-)){1,62}[a-z0-9]$')
);
create trigger pay_slug_append_only before update or delete on pay_slug
  for each row execute function append_only('pay_slug');

-- Of one tenant.
alter table pay_slug enable row level security, force row level security;
create policy tenant on pay_slug for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on pay_slug to flock_owner using (true) with check (true);
grant select on pay_slug to flock_app;

-- `amount_raised`, `payment_count` and `uses` are written by triggers alone.
create table payment_link (
  account_id       text collate "C" not null references account,
  id               text collate "C" not null,
  version          bigint not null constraint payment_link_version_positive check (version >= 1),
  slug             text collate "C" not null references pay_slug,
  mode             text not null constraint payment_link_mode check (mode in ('fixed', 'donation')),
  address_mode     text not null constraint payment_link_address_mode
                     check (address_mode = 'per_payer' or (address_mode = 'shared' and mode = 'donation')),
  chain            text not null,
  asset            text not null,
  token_contract   text,
  decimals         int  not null,
  amount           amount constraint payment_link_amount check ((mode = 'fixed') = (amount is not null) and amount > 0),
  threshold_amount amount constraint payment_link_threshold
                     check (threshold_amount is null or (threshold_amount > 0 and mode = 'donation')),
  min_amount       amount constraint payment_link_min
                     check (min_amount is null or (min_amount > 0 and mode = 'donation')),
  max_amount       amount constraint payment_link_max
                     check (max_amount is null or (mode = 'donation' and max_amount >= coalesce(min_amount, 1))),
  closes_at        timestamptz,
  max_uses         int constraint payment_link_max_uses check (max_uses between 1 and 1000000),
  title            text,
  description      text,
  collect_email    boolean not null,
  success_url      text,
  -- JSON as it was given, whose keys keep their order (payments P2).
  metadata         text not null constraint payment_link_metadata check (octet_length(metadata) <= 8192),
  status           text not null constraint payment_link_status check (status in ('active', 'paused', 'closed')),
  closed_reason    text constraint payment_link_closed_reason
                     check (closed_reason in ('paid', 'threshold', 'date', 'manual')),
  closed_at        timestamptz,
  closed_at_height bigint,
  monitor_until    timestamptz,
  address_id       text collate "C",
  address          text collate "C",
  derivation_path  text,
  amount_raised    amount not null default 0 constraint payment_link_raised_not_negative check (amount_raised >= 0),
  payment_count    int    not null default 0 constraint payment_link_count_not_negative check (payment_count >= 0),
  uses             int    not null default 0 constraint payment_link_uses_not_negative check (uses >= payment_count),
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  constraint payment_link_once primary key (account_id, id),
  constraint payment_link_closed check ((status = 'closed') = (closed_reason is not null)
    and (status = 'closed') = (closed_at is not null) and (status = 'closed') = (monitor_until is not null)),
  constraint payment_link_shared_address check ((address_mode = 'shared') = (address_id is not null)
    and (address_id is null) = (address is null) and (address_id is null) = (derivation_path is null))
);
-- M8, P3: what is closed stays closed, and what a link asks for stays.
create trigger payment_link_stays_closed before update on payment_link for each row
  when (old.status = 'closed' and (new.status, new.closed_reason, new.closed_at)
        is distinct from (old.status, old.closed_reason, old.closed_at))
  execute function refuse('payment_link_stays_closed');
create trigger payment_link_immutable before update on payment_link for each row
  when ((new.account_id, new.id, new.slug, new.mode, new.address_mode, new.chain, new.asset, new.token_contract,
         new.decimals, new.amount, new.created_at)
        is distinct from (old.account_id, old.id, old.slug, old.mode, old.address_mode, old.chain, old.asset,
                          old.token_contract, old.decimals, old.amount, old.created_at))
  execute function refuse('payment_link_immutable');
-- M5: sums move by the triggers of entries and of statuses, never by a statement.
create trigger payment_link_sums_derived before update on payment_link for each row
  when (pg_trigger_depth() = 0 and (new.amount_raised, new.payment_count, new.uses)
        is distinct from (old.amount_raised, old.payment_count, old.uses))
  execute function refuse('payment_link_sums_derived');
create trigger payment_link_sums_begin before insert on payment_link for each row
  when (new.amount_raised <> 0 or new.payment_count <> 0 or new.uses <> 0)
  execute function refuse('payment_link_sums_derived');

-- Of one tenant.
alter table payment_link enable row level security, force row level security;
create policy tenant on payment_link for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on payment_link to flock_owner using (true) with check (true);
grant select on payment_link to flock_app;

-- `confirmed` is written by the trigger of entries alone.
create table payment (
  account_id      text collate "C" not null,
  id              text collate "C" not null,
  link_id         text collate "C" not null,
  version         bigint not null constraint payment_version_positive check (version >= 1),
  status          text not null constraint payment_status
                    check (status in ('awaiting_payment', 'detected', 'underpaid', 'confirmed', 'late', 'expired')),
  amount          amount constraint payment_amount_positive check (amount > 0),
  due             amount not null constraint payment_due_positive check (due > 0),
  ceiling         amount,
  seen            amount not null constraint payment_seen_not_negative check (seen >= 0),
  confirmed       amount not null default 0 constraint payment_confirmed_within check (confirmed >= 0),
  late            amount not null constraint payment_late_not_negative check (late >= 0),
  address_id      text collate "C" not null,
  address         text collate "C" not null,
  derivation_path text not null,
  address_reused  boolean not null,
  customer_email  text,
  customer_name   text,
  language        text,
  payer_key       text,
  expires_at      timestamptz not null,
  opened_at       timestamptz not null,
  updated_at      timestamptz not null,
  constraint payment_once primary key (account_id, id),
  constraint payment_with_link unique (account_id, id, link_id), -- payment_transfer_of_payment
  constraint payment_of_link foreign key (account_id, link_id) references payment_link (account_id, id),
  constraint payment_on_address foreign key (account_id, address_id) references address (account_id, id),
  -- S6: what has no money says so, and what has money does not wait.
  constraint payment_status_of_sums check (case
    when seen >= due then status in ('confirmed', 'detected')
    when late > 0 then status = 'late'
    when seen > 0 then status = 'underpaid'
    else status in ('awaiting_payment', 'expired') end)
);
create trigger payment_immutable before update on payment for each row
  when ((new.account_id, new.id, new.link_id, new.amount, new.due, new.ceiling, new.address_id, new.address,
         new.opened_at)
        is distinct from (old.account_id, old.id, old.link_id, old.amount, old.due, old.ceiling, old.address_id,
                          old.address, old.opened_at))
  execute function refuse('payment_immutable');
create trigger payment_confirmed_derived before update on payment for each row
  when (pg_trigger_depth() = 0 and new.confirmed is distinct from old.confirmed)
  execute function refuse('payment_confirmed_derived');
create trigger payment_confirmed_begins before insert on payment for each row
  when (new.confirmed <> 0) execute function refuse('payment_confirmed_derived');
create trigger payment_counted_new after insert on payment for each row
  when (new.status in ('confirmed', 'detected', 'underpaid')) execute function payment_counts();
create trigger payment_counted after update on payment for each row
  when (new.status <> old.status) execute function payment_counts();
-- The list of a link's payments; those of an address that are not complete; what expires next.
create index payment_by_link on payment (account_id, link_id, status, id);
create index payment_incomplete on payment (account_id, address_id) where seen < due;
create index payment_expiring on payment (expires_at) where status = 'awaiting_payment';

-- Of one tenant.
alter table payment enable row level security, force row level security;
create policy tenant on payment for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on payment to flock_owner using (true) with check (true);
grant select on payment to flock_app;

-- M3: who had an address and when; one holder at a time.
create table checkout_address (
  account_id  text collate "C" not null,
  id          text collate "C" not null,
  address_id  text collate "C" not null,
  link_id     text collate "C" not null,
  payment_id  text collate "C",
  reused      boolean not null,
  lent_at     timestamptz not null,
  released_at timestamptz constraint checkout_address_released_after check (released_at >= lent_at),
  constraint checkout_address_key primary key (account_id, id),
  constraint checkout_address_of_link foreign key (account_id, link_id) references payment_link (account_id, id),
  constraint checkout_address_of_payment foreign key (account_id, payment_id, link_id)
    references payment (account_id, id, link_id),
  constraint checkout_address_of_address foreign key (account_id, address_id) references address (account_id, id)
);
create unique index checkout_address_lent_once on checkout_address (account_id, address_id) where released_at is null;
create index checkout_address_by_address on checkout_address (account_id, address_id, lent_at desc, id desc);

-- Of one tenant.
alter table checkout_address enable row level security, force row level security;
create policy tenant on checkout_address for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on checkout_address to flock_owner using (true) with check (true);
grant select on checkout_address to flock_app;

-- M4: an incarnation of a deposit belongs to one payment for ever.
create table payment_transfer (
  account_id  text collate "C" not null,
  deposit_id  text collate "C" not null,
  incarnation int  not null,
  link_id     text collate "C" not null,
  payment_id  text collate "C",
  role        text not null constraint payment_transfer_role
                check (role in ('counted', 'late', 'wrong_asset', 'wrong_network')),
  constraint payment_transfer_once primary key (deposit_id, incarnation),
  constraint payment_transfer_for_entry unique (deposit_id, incarnation, payment_id, role),
  constraint payment_transfer_has_payment check (payment_id is not null or role in ('wrong_asset', 'wrong_network')),
  constraint payment_transfer_of_deposit foreign key (account_id, deposit_id) references deposit (account_id, id),
  constraint payment_transfer_of_link foreign key (account_id, link_id) references payment_link (account_id, id),
  constraint payment_transfer_of_payment foreign key (account_id, payment_id, link_id)
    references payment (account_id, id, link_id)
);
create index payment_transfer_by_payment on payment_transfer (account_id, payment_id) where payment_id is not null;
create trigger payment_transfer_append_only before update or delete on payment_transfer
  for each row execute function append_only('payment_transfer');
create trigger payment_transfer_not_truncated before truncate on payment_transfer
  for each statement execute function append_only('payment_transfer');

-- Of one tenant.
alter table payment_transfer enable row level security, force row level security;
create policy tenant on payment_transfer for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on payment_transfer to flock_owner using (true) with check (true);
grant select on payment_transfer to flock_app;

-- M5: what a transfer on time gave, and what a reorg took back: exactly the ledger's credit and its reversal, each
-- once.
create table payment_entry (
  account_id  text collate "C" not null,
  deposit_id  text collate "C" not null,
  incarnation int  not null,
  kind        text not null constraint payment_entry_kind check (kind in ('counted', 'reversed')),
  link_id     text collate "C" not null,
  payment_id  text collate "C" not null,
  amount      amount not null,
  recorded_at timestamptz not null default clock_timestamp(),
  role        text generated always as ('counted') stored,
  ledger_kind text generated always as (case kind when 'counted' then 'credit' else 'reversal' end) stored,
  constraint payment_entry_once primary key (deposit_id, incarnation, kind),
  constraint payment_entry_of_ledger foreign key (deposit_id, incarnation, ledger_kind, amount)
    references ledger_entry (deposit_id, incarnation, kind, amount),
  constraint payment_entry_of_transfer foreign key (deposit_id, incarnation, payment_id, role)
    references payment_transfer (deposit_id, incarnation, payment_id, role),
  constraint payment_entry_of_payment foreign key (account_id, payment_id, link_id)
    references payment (account_id, id, link_id)
);
create trigger payment_entry_append_only before update or delete on payment_entry
  for each row execute function append_only('payment_entry');
create trigger payment_entry_not_truncated before truncate on payment_entry
  for each statement execute function append_only('payment_entry');
create trigger payment_entry_sums after insert on payment_entry
  for each row execute function payment_entry_sums();

-- Of one tenant.
alter table payment_entry enable row level security, force row level security;
create policy tenant on payment_entry for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on payment_entry to flock_owner using (true) with check (true);
grant select on payment_entry to flock_app;
