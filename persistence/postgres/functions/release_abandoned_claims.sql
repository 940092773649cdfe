-- All steps of release_claims in one call, for a node of an earlier release.
create or replace function release_abandoned_claims(shards int[]) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  step record;
  ended bigint := 0;
begin
  step := release_claims(shards, 5000, '', '', null, null);
  loop
    ended := ended + step.released;
    exit when step.last_account is null;
    step := release_claims(shards, 5000, step.last_account, step.last_endpoint, step.last_at::timestamptz,
        step.last_seq::bigint);
  end loop;
  return ended;
end $$;
grant execute on function release_abandoned_claims to flock_app;
