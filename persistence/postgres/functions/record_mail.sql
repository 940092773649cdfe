-- Records what became of a mail: sent where `again_at` is null, or given up for a reason; else due again then. One that
-- was sent stays sent.
create or replace function record_mail(of_event text, of_user text, at timestamptz, again_at timestamptz, reason text)
returns void
language sql security definer set search_path = flock, pg_temp as $$
  update mail set attempts = attempts + 1, claimed_until = null, last_error = reason, next_attempt_at = again_at,
         sent_at = case when again_at is null then at end
   where event_id = of_event and user_id = of_user and sent_at is null;
$$;
grant execute on function record_mail to flock_app;
