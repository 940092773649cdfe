-- Claims due deliveries whoever owns the accounts' shards: for a node of an earlier release (claim_in_order).
create or replace function claim_deliveries(accounts text[], most int, now_at timestamptz,
    claim_until timestamptz, busy text[])
returns table (delivery_id text, account_id text, event_id text, webhook_id text, replay int, status text, attempts int,
               next_attempt_at timestamptz, url text, sealed_secrets text[], body text, order_key text)
language sql security definer set search_path = flock, pg_temp as $$
  select * from claim_in_order(accounts, null, most, now_at, claim_until, busy, null);
$$;
grant execute on function claim_deliveries to flock_app;
