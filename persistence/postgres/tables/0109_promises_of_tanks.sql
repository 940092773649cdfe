-- What a gas tank keeps for an open operation, so that two policies do not promise one tank twice (treasury W9), and
-- the first of two fundings where a price outran the gas that was sent.
alter table sweep_operation
  add column promised amount not null default 0 constraint sweep_operation_promised_not_negative check (promised >= 0),
  add column first_fund_id text collate "C";

-- What is over comes back only as another attempt, with transactions of its own (S19); what it cost may be known later.
drop trigger sweep_operation_ended on sweep_operation;
create trigger sweep_operation_ended before update on sweep_operation for each row
  when ((new.account_id, new.id, new.job_id, new.chain, new.address)
          is distinct from (old.account_id, old.id, old.job_id, old.chain, old.address)
    or (old.state in ('CONFIRMED', 'SKIPPED', 'FAILED') and new.state = old.state
          and ((new.attempt, new.amount, new.fund_id, new.sweep_id)
            is distinct from (old.attempt, old.amount, old.fund_id, old.sweep_id) or old.paid is not null))
    or (old.state in ('CONFIRMED', 'SKIPPED') and new.state is distinct from old.state)
    or (old.state = 'FAILED' and new.state <> 'FAILED' and (new.state <> 'PLANNED' or new.attempt <= old.attempt
          or new.sweep_id = old.sweep_id or new.fund_id = old.fund_id)))
  execute function refuse('sweep_operation_ended');
