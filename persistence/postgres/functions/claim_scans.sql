-- Scans that are due and that nobody is at work on: for this node, for a minute. The one whose turn is longest ago
-- comes first, and an account is worked on by one node at a time, so that accounts take turns. Scans of one live chain
-- share its pace, whoever asked for them.
create or replace function claim_scans(most int)
returns setof scan
language sql security definer set search_path = flock, pg_temp as $$
  with due as materialized (
    select s.account_id, s.id from scan s
     where s.ended_at is null and s.due_at <= clock_timestamp() and s.worked_until < clock_timestamp()
       and not exists (
         select from scan o where o.account_id = s.account_id and o.ended_at is null
            and o.worked_until >= clock_timestamp())
       and not (s.account_id like '%\_live' and exists (
         select from scan_pace p where p.chain = s.chain and p.next_at > clock_timestamp()))
     order by s.due_at limit most for update skip locked
  )
  update scan s set worked_until = clock_timestamp() + interval '60 seconds', version = s.version + 1 from due d
   where s.account_id = d.account_id and s.id = d.id
  returning s.*;
$$;
grant execute on function claim_scans to flock_app;
