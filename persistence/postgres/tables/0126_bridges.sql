-- Transfers of bridge policies: what is burnt on one chain and minted on another. Each is written by append_bridges
-- over the version that its decision read; its transactions are rows of withdrawal, of kind sweep (treasury H5, H12).
-- `approve_id`, `burn_id` and `mint_id` are the ids of its transactions, chosen before they are built, so that a build
-- that is repeated is the same one.
create table bridge_transfer (
  account_id     text collate "C" not null references account,
  id             text collate "C" not null,
  version        bigint not null constraint bridge_transfer_version_positive check (version >= 1),
  policy_id      text collate "C" not null,
  from_chain     text not null,
  to_chain       text not null constraint bridge_transfer_two_chains check (to_chain <> from_chain),
  token_contract text collate "C" not null,
  source         text collate "C" not null,
  recipient      text collate "C" not null,
  recipient_path text,
  amount         amount not null constraint bridge_transfer_amount_positive check (amount > 0),
  max_fee        amount constraint bridge_transfer_max_fee_below check (max_fee >= 0 and max_fee < amount),
  state          text not null constraint bridge_transfer_state check (state in
                   ('PLANNED', 'APPROVING', 'BURNING', 'ATTESTING', 'MINTING', 'COMPLETED', 'FAILED')),
  reason         text,
  stalled_reason text,
  stalled_at     timestamptz,
  blocked        text constraint bridge_transfer_blocked_size check (octet_length(blocked) <= 8192),
  approve_id     text collate "C" not null,
  burn_id        text collate "C" not null,
  mint_id        text collate "C" not null,
  message        text constraint bridge_transfer_message_size check (octet_length(message) <= 2048),
  attested       text constraint bridge_transfer_attested_size check (octet_length(attested) <= 2048),
  attestation    text constraint bridge_transfer_attestation_size check (octet_length(attestation) <= 4096),
  mint_from      bigint,
  attesting_at   timestamptz,
  look_at        timestamptz not null,
  received       amount constraint bridge_transfer_received_within check (received >= 0 and received <= amount),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  ended_at       timestamptz,
  constraint bridge_transfer_once primary key (account_id, id),
  constraint bridge_transfer_ended check ((state in ('COMPLETED', 'FAILED')) = (ended_at is not null)),
  constraint bridge_transfer_reason check ((state = 'FAILED') = (reason is not null)),
  constraint bridge_transfer_stalled check ((stalled_reason is null) = (stalled_at is null))
);
-- An approval is set, not added: one transfer spends of a treasury at a time.
create unique index bridge_spending_once on bridge_transfer (account_id, from_chain)
  where state in ('APPROVING', 'BURNING');
create index bridge_transfer_newest on bridge_transfer (account_id, created_at, id); -- the list
create index bridge_transfer_of_policy on bridge_transfer (account_id, policy_id, created_at, id);
create index bridge_transfer_due on bridge_transfer (account_id, id) where ended_at is null; -- due_bridge_transfers

-- What is burnt is never burnt again, whatever writes: a transfer goes forward only, its terms are fixed, and so is
-- what its burn said (treasury H5).
create trigger bridge_transfer_forward before update on bridge_transfer for each row
  when ((new.account_id, new.id, new.policy_id, new.from_chain, new.to_chain, new.token_contract, new.source,
         new.recipient, new.recipient_path, new.amount, new.approve_id, new.burn_id, new.created_at)
        is distinct from (old.account_id, old.id, old.policy_id, old.from_chain, old.to_chain, old.token_contract,
         old.source, old.recipient, old.recipient_path, old.amount, old.approve_id, old.burn_id, old.created_at)
    or (old.message is not null and new.message is distinct from old.message)
    or (old.state in ('COMPLETED', 'FAILED') and new.state <> old.state)
    or (old.state in ('ATTESTING', 'MINTING') and new.state not in ('ATTESTING', 'MINTING', 'COMPLETED')))
  execute function refuse('bridge_transfer_forward');

-- Of one tenant.
alter table bridge_transfer enable row level security, force row level security;
create policy tenant on bridge_transfer for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on bridge_transfer to flock_owner using (true) with check (true);
grant select on bridge_transfer to flock_app;
