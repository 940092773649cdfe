-- A fact about a withdrawal that no recorded block brings: nodes were asked about it (chain-watchers/outbound). Posted
-- to its account, once the withdrawal is known to be the account's.
create or replace function note_withdrawal_fact(of_account text, fact jsonb) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  entries jsonb := jsonb_build_array(jsonb_build_object('accountId', of_account, 'fact', fact));
begin
  perform check_withdrawal_facts(null, entries);
  perform post_facts(entries);
end $$;
grant execute on function note_withdrawal_fact to flock_app;
