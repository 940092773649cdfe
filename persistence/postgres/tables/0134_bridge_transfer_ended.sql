-- What has arrived, or failed, says for ever what it said then (treasury H5).
drop trigger bridge_transfer_forward on bridge_transfer;
create trigger bridge_transfer_forward before update on bridge_transfer for each row
  when ((new.account_id, new.id, new.policy_id, new.from_chain, new.to_chain, new.token_contract, new.source,
         new.recipient, new.recipient_path, new.amount, new.approve_id, new.burn_id, new.created_at)
        is distinct from (old.account_id, old.id, old.policy_id, old.from_chain, old.to_chain, old.token_contract,
         old.source, old.recipient, old.recipient_path, old.amount, old.approve_id, old.burn_id, old.created_at)
    or (old.message is not null and new.message is distinct from old.message)
    or old.state in ('COMPLETED', 'FAILED')
    or (old.state in ('ATTESTING', 'MINTING') and new.state not in ('ATTESTING', 'MINTING', 'COMPLETED')))
  execute function refuse('bridge_transfer_forward');
