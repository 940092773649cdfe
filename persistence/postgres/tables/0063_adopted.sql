-- Addresses that an import adopted from another wallet, and deposits to them that are told to nobody.

-- The batch that brought an address; null for one that the account was asked for or that a key source registered.
alter table address add column batch_id text collate "C";
-- Of an adopted address without a key the path is `[]`, never one that somebody only claims (migration M-X1).
alter table address add constraint address_adopted check (batch_id is null or (purpose = 'deposit'
  and (derivation_path like 'm/%' or derivation_path ~ '^\[([0-9a-f]{16}(/[0-9]+''?)*)?\]$')));
drop trigger address_immutable on address;
create trigger address_immutable before update on address for each row
  when ((new.account_id, new.id, new.environment, new.chain, new.family, new.address, new.address_key,
         new.derivation_path, new.purpose, new.index, new.user_ref, new.tag, new.batch_id, new.created_at)
        is distinct from (old.account_id, old.id, old.environment, old.chain, old.family, old.address, old.address_key,
         old.derivation_path, old.purpose, old.index, old.user_ref, old.tag, old.batch_id, old.created_at))
  execute function refuse('address_immutable');
-- addresses_since: a batch of a million is born in one moment, and its blocks are read again on its own (M-X3).
drop index address_by_birth;
create index address_by_birth on address (created_at) where batch_id is null;

-- M-X2: decided when a credit key is first seen, and for ever. `historical`: in a block up to the height that the
-- commit recorded; `observed`: later, before the cutover.
alter table deposit add column silence text;
alter table deposit add constraint deposit_silence
  check (silence is null or (silence in ('historical', 'observed') and not announced));
create trigger deposit_silence_stays before update on deposit for each row
  when (new.silence is distinct from old.silence and new.address_id = old.address_id)
  execute function refuse('deposit_silence_stays');
