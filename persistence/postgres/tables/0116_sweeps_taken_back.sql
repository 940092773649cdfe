-- A reorg may take a sweep out of the chain after its job ended: the job is looked at again until its operation has
-- followed its transaction (treasury S22). Null: not.
alter table sweep_job add column taken_back boolean;

-- What is over comes back only as another attempt, with transactions of its own (S19), or because its transaction left
-- the chain (S22); what it cost may be known later.
drop trigger sweep_operation_ended on sweep_operation;
create trigger sweep_operation_ended before update on sweep_operation for each row
  when ((new.account_id, new.id, new.job_id, new.chain, new.address)
          is distinct from (old.account_id, old.id, old.job_id, old.chain, old.address)
    or (old.state in ('CONFIRMED', 'SKIPPED', 'FAILED') and new.state = old.state
          and ((new.attempt, new.amount, new.fund_id, new.sweep_id)
            is distinct from (old.attempt, old.amount, old.fund_id, old.sweep_id) or old.paid is not null))
    or (old.state = 'CONFIRMED' and new.state <> 'CONFIRMED' and (new.state not in ('BROADCAST', 'FAILED')
          or (new.attempt, new.fund_id, new.sweep_id) is distinct from (old.attempt, old.fund_id, old.sweep_id)))
    or (old.state = 'SKIPPED' and new.state is distinct from old.state)
    or (old.state = 'FAILED' and new.state <> 'FAILED' and (new.state <> 'PLANNED' or new.attempt <= old.attempt
          or new.sweep_id = old.sweep_id or new.fund_id = old.fund_id)))
  execute function refuse('sweep_operation_ended');
