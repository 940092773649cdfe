-- The answer to a request that changed no account (a refusal). False when the key is taken.
create or replace function save_idempotent(answer jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into idempotency as i (account_id, method, path, key, body_hash, status, body)
    select account_id, method, path, key, body_hash, status, body::json
      from jsonb_to_record(answer)
        r(account_id text, method text, path text, key text, body_hash text, status int, body text)
  on conflict (account_id, method, path, key) do update
    set body_hash = excluded.body_hash, status = excluded.status, body = excluded.body, created_at = clock_timestamp()
    where i.created_at <= clock_timestamp() - interval '24 hours';
  return found;
end $$;
grant execute on function save_idempotent to flock_app;
