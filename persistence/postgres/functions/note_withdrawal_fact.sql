create or replace function note_withdrawal_fact(of_account text, fact jsonb) returns void
language sql security definer set search_path = flock, pg_temp as $$
  select post_facts(jsonb_build_array(jsonb_build_object('accountId', of_account, 'fact', fact)));
$$;
grant execute on function note_withdrawal_fact to flock_app;
