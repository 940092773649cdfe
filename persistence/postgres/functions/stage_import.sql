-- Writes what an attempt read of a file: rows as they may be adopted, and what was found; renews its sign of life, also
-- with nothing to write. Returns whether the attempt is still the newest one: else nothing is written.
create or replace function stage_import(of_account text, of_batch text, of_attempt int, staged jsonb,
    found_issues jsonb)
returns boolean language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  update import_batch b set worked_until = clock_timestamp() + interval '45 seconds'
   where b.account_id = of_account and b.id = of_batch and b.state = 'validating' and b.attempt = of_attempt;
  if not found then return false; end if;
  insert into import_row (account_id, batch_id, n, line, chain, family, address, address_key, derivation_path,
      user_ref, tag, label, address_id)
    select of_account, of_batch, r.* from jsonb_to_recordset(staged) r(n int, line int, chain text, family text,
      address text, address_key uuid, derivation_path text, user_ref text, tag text, label text, address_id text);
  insert into import_issue (account_id, batch_id, n, phase, severity, code, line, col, field, message)
    select of_account, of_batch, r.* from jsonb_to_recordset(found_issues) r(n int, phase text, severity text,
      code text, line int, col int, field text, message text);
  return true;
end $$;
grant execute on function stage_import to flock_app;
