-- I16: a page of what an endpoint that is disabled or deleted has not received: pending, failed ──▶ held. Of one that
-- is enabled again it is what waited when it was stopped; a replay that somebody asked for is none of that. Rows that
-- somebody has locked are left to a later page, so that nobody waits here and nobody waits for this.
create or replace function hold_deliveries(of_account text, endpoint text, most int) returns bigint language sql as $$
  with page as materialized (
    select d.id from delivery d
     where d.webhook_id = endpoint and d.account_id = of_account and d.next_attempt_at is not null
       and d.status in ('pending', 'failed') and not exists (
         select from webhook w where w.account_id = of_account and w.id = endpoint and w.status = 'enabled'
            and (d.replay > 0 or d.seq > w.held_through))
     limit most for update of d skip locked
  ), held as (
    update delivery d set status = 'held', next_attempt_at = null, claimed_until = null from page p where d.id = p.id
    returning 1
  )
  select count(*) from held;
$$;
