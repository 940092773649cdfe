-- Statements that an edge signed about addresses of its customers, mostly ahead of the payments that lend them. The
-- cloud cannot make one (payments E4, E5). Rows end 30 days after they were signed and go with the next ones.
create table address_attestation (
  account_id  text collate "C" not null references account,
  family      text not null constraint address_attestation_family check (family in ('btc', 'evm', 'tron')),
  index       bigint not null constraint address_attestation_index check (index >= 0),
  address     text collate "C" not null,
  public_key  text collate "C" not null constraint address_attestation_key check (public_key ~ '^[0-9a-f]{64}$'),
  issued_at   timestamptz not null,
  valid_until timestamptz not null,
  signature   text not null,
  constraint address_attestation_once primary key (account_id, family, index),
  constraint address_attestation_ends check (valid_until > issued_at and valid_until <= issued_at + interval '31 days')
);
create index address_attestation_ended on address_attestation (account_id, valid_until);

-- Of one tenant.
alter table address_attestation enable row level security, force row level security;
create policy tenant on address_attestation for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on address_attestation to flock_owner using (true) with check (true);
grant select on address_attestation to flock_app;
