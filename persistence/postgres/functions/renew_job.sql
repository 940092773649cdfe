-- Keeps a claim for so many seconds more; false where it is not this node's any more.
create or replace function renew_job(job text, by_node text, claim_seconds int) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  update background_job b set claimed_until = clock_timestamp() + make_interval(secs => claim_seconds)
   where b.name = job and b.node = by_node and b.claimed_until > clock_timestamp();
  return found;
end $$;
grant execute on function renew_job to flock_app;
