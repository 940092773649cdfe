-- I6: an incarnation is counted from one.
alter table ledger_entry add constraint ledger_entry_incarnation_positive check (incarnation >= 1);
alter table deposit add constraint deposit_incarnation_positive check (incarnation >= 1);

-- What was signed stays signed: versions are only added, nothing with a version is a build again or pays more, and a
-- confirmed withdrawal stays what it is or loses its block to a reorg.
create trigger withdrawal_moves_forward before update on withdrawal for each row
  when ((new.status = 'built' and old.status <> 'built')
    or (new.status = 'built' and jsonb_array_length(new.versions) > 0)
    or not jsonb_path_query_array(new.versions, '$[*].txid') @> jsonb_path_query_array(old.versions, '$[*].txid')
    or jsonb_array_length(new.versions) < jsonb_array_length(old.versions)
    or (new.amount > old.amount and jsonb_array_length(old.versions) > 0)
    or (old.status = 'confirmed' and (new.status not in ('confirmed', 'broadcast') or new.amount <> old.amount)))
  execute function refuse('withdrawal_moves_forward');
