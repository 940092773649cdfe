-- A step of release_former_claims whoever owns the shards, for a node of an earlier release.
create or replace function release_claims(shards int[], looked_most int, after_account text, after_endpoint text,
    after_at timestamptz, after_seq bigint)
returns table (released bigint, last_account text, last_endpoint text, last_at text, last_seq text)
language sql security definer set search_path = flock, pg_temp as $$
  select * from release_former_claims(null, shards, looked_most, after_account, after_endpoint, after_at, after_seq);
$$;
grant execute on function release_claims to flock_app;
