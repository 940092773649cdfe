-- What the audit has counted of addresses that moved more than it reads at once: exact sums of all that is at or below
-- `through`. The audit alone adds to them, from the rows (count_audit_total); where a row at such a height changes, the
-- same statement corrects the sums. Each is counted once more, from its beginning, over and over (recount_audit_total).
--   side          subject                     rows that are counted
--   received      address_key                 facts that are not orphaned
--   sent          the address                 withdrawals in blocks, with their fees
--   unattributed  address_id                  growth that was recorded as unattributed
create table audit_total (
  ledger        text collate "C" not null,
  side          text not null constraint audit_total_side check (side in ('received', 'sent', 'unattributed')),
  subject       text collate "C" not null,
  through       bigint not null default -1,
  sums          jsonb  not null default '{}', -- by token contract; '' is the native coin
  again_through bigint not null default -1,
  again_sums    jsonb  not null default '{}',
  -- Whatever began before this transaction may have written without looking here: nothing is counted until it ended.
  ready         xid8,
  recounted_at  timestamptz,
  constraint audit_total_once primary key (ledger, side, subject),
  constraint audit_total_recount check (again_through <= through)
);
create index audit_total_recounted on audit_total (ledger, recounted_at nulls first); -- recount_audit_total
grant select on audit_total to flock_app;

create trigger fact_counted after insert on fact for each row execute function audit_total_of_fact();
create trigger fact_recounted after update on fact for each row
  when ((new.ledger, new.address_key, new.height, new.status = 'orphaned', new.transfer ->> 'amount',
         new.transfer ->> 'tokenContract')
        is distinct from (old.ledger, old.address_key, old.height, old.status = 'orphaned', old.transfer ->> 'amount',
         old.transfer ->> 'tokenContract'))
  execute function audit_total_of_fact();
create trigger withdrawal_counted_by_audit after insert on withdrawal for each row
  when (new.height is not null) execute function audit_total_of_withdrawal();
create trigger withdrawal_recounted_by_audit after update on withdrawal for each row
  when ((new.height, new.status, new.amount, new.fee) is distinct from (old.height, old.status, old.amount, old.fee))
  execute function audit_total_of_withdrawal();
create trigger discrepancy_counted after insert on discrepancy for each row
  when (new.kind = 'unattributed') execute function audit_total_of_discrepancy();
