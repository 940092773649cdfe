-- What is in a block pays what that version was signed for. A signed withdrawal's amount becomes that of a version it has, or,
-- lower, that of its newest build; no version's amount is lost.
drop trigger withdrawal_moves_forward on withdrawal;
create trigger withdrawal_moves_forward before update on withdrawal for each row
  when ((new.status = 'built' and old.status <> 'built')
    or (new.status = 'built' and jsonb_array_length(new.versions) > 0)
    or not jsonb_path_query_array(new.versions, '$[*].txid') @> jsonb_path_query_array(old.versions, '$[*].txid')
    or not jsonb_path_query_array(new.versions, '$[*].amount') @> jsonb_path_query_array(old.versions, '$[*].amount')
    or jsonb_array_length(new.versions) < jsonb_array_length(old.versions)
    or (new.amount <> old.amount and jsonb_array_length(old.versions) > 0
      and not old.versions @> jsonb_build_array(jsonb_build_object('amount', new.amount::text))
      and not (new.amount < old.amount and new.height is null and (new.unsigned ->> 'amount') is not distinct from new.amount::text))
    or (new.height is not null and jsonb_path_exists(new.versions, '$[*] ? (@.txid == $txid && @.amount != $amount)',
      jsonb_build_object('txid', new.txid, 'amount', new.amount::text)))
    or (old.status = 'confirmed' and (new.status not in ('confirmed', 'broadcast') or new.amount <> old.amount)))
  execute function refuse('withdrawal_moves_forward');
