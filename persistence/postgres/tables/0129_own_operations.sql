-- What the treasury does itself is told apart in the list of transactions: the role of each, and the sweep operation or
-- bridge transfer that it belongs to (treasury S23). Kept on the row, since a retry gives an operation other
-- transactions. Null of a withdrawal, and of what a node of before built.
alter table withdrawal add column role text, add column operation_id text collate "C";
alter table withdrawal add constraint withdrawal_role check (
  (role is null) = (operation_id is null)
  and (role is null or (kind = 'sweep' and role in ('fund', 'sweep', 'approve', 'burn', 'mint')))) not valid;

-- What was there before, as far as its operation still names it.
update withdrawal w set role = o.role, operation_id = o.id
  from (select account_id, id, sweep_id as transaction_id, 'sweep' as role from sweep_operation
        union all select account_id, id, fund_id, 'fund' from sweep_operation
        union all select account_id, id, first_fund_id, 'fund' from sweep_operation where first_fund_id is not null
        union all select account_id, id, approve_id, 'approve' from bridge_transfer
        union all select account_id, id, burn_id, 'burn' from bridge_transfer
        union all select account_id, id, mint_id, 'mint' from bridge_transfer) o
 where w.account_id = o.account_id and w.id = o.transaction_id and w.kind = 'sweep';

-- What a withdrawal is stays; its status, fee, versions and (send-all) amount move.
drop trigger withdrawal_immutable on withdrawal;
create trigger withdrawal_immutable before update on withdrawal for each row
  when ((new.account_id, new.id, new.kind, new.role, new.operation_id, new.ledger, new.chain, new.from_address,
         new.to_address, new.token_contract, new.created_at)
        is distinct from (old.account_id, old.id, old.kind, old.role, old.operation_id, old.ledger, old.chain,
         old.from_address, old.to_address, old.token_contract, old.created_at))
  execute function refuse('withdrawal_immutable');
