-- Wipes of accounts: scheduled, taken back, begun, and how far the deletion is (wipe_step). Console A48, A49.
create table wipe (
  account_id    text collate "C" not null references account,
  id            text collate "C" not null,
  status        text not null constraint wipe_status check (status in
                  ('scheduled', 'closing', 'running', 'done', 'cancelled')),
  user_id       text collate "C" not null,
  asked_at      timestamptz not null,
  scheduled_for timestamptz not null,
  began_at      timestamptz,
  ended_at      timestamptz,
  -- What is counted or deleted now, and the last key of it that is done.
  step          text not null default 'holding',
  after         text collate "C" not null default '',
  addresses     bigint not null default 0,
  -- Sums of `sweepable` by chain and token, and whether all of it is in them.
  holdings      jsonb not null default '{}',
  counted       boolean not null default false,
  constraint wipe_once primary key (account_id, id),
  constraint wipe_in_three_days check (scheduled_for >= asked_at + interval '72 hours')
);
create unique index wipe_open_once on wipe (account_id) where status in ('scheduled', 'closing', 'running');
create index wipe_due on wipe (account_id, scheduled_for) where status in ('scheduled', 'closing', 'running');
create trigger wipe_immutable before update on wipe for each row
  when ((new.account_id, new.id, new.user_id, new.asked_at, new.scheduled_for)
        is distinct from (old.account_id, old.id, old.user_id, old.asked_at, old.scheduled_for)
        or old.status in ('done', 'cancelled'))
  execute function refuse('wipe_immutable');
create trigger wipe_moves before update on wipe for each row
  when (new.status <> old.status and (old.status, new.status) not in (('scheduled', 'closing'),
    ('scheduled', 'cancelled'), ('closing', 'cancelled'), ('closing', 'running'), ('running', 'done')))
  execute function refuse('wipe_moves');
alter table wipe enable row level security, force row level security;
create policy tenant on wipe for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on wipe to flock_owner using (true) with check (true);
grant select on wipe to flock_app;

-- Watched no more: of an account that was wiped.
alter table address add column wiped boolean not null default false;
drop trigger address_immutable on address;
-- A wipe alone forgets whose an address was (wipe_step).
create trigger address_immutable before update on address for each row
  when ((new.account_id, new.id, new.environment, new.chain, new.family, new.address, new.address_key,
         new.derivation_path, new.purpose, new.index, new.batch_id, new.created_at)
        is distinct from (old.account_id, old.id, old.environment, old.chain, old.family, old.address, old.address_key,
         old.derivation_path, old.purpose, old.index, old.batch_id, old.created_at)
    or (new.user_ref, new.tag) is distinct from (old.user_ref, old.tag)
      and not (new.user_ref is null and new.tag is null and new.wiped
        and current_setting('flock.wipe', true) is not distinct from old.account_id)
    or old.wiped and not new.wiped and old.purpose = 'deposit')
  execute function refuse('address_immutable');
-- I10: what a wipe has archived stays so, but for the account's own addresses, which the same phrase brings again.
create trigger address_wiped before update on address for each row
  when (old.wiped and new.wiped and new.status <> old.status) execute function refuse('address_wiped');

-- A deleted endpoint of a wiped account has no secret.
alter table webhook drop constraint webhook_has_secret;
alter table webhook add constraint webhook_has_secret
  check (cardinality(sealed_secrets) between 1 and 2 or status = 'deleted');
