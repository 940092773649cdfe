-- One page of one endpoint's backlog. Answers how many deliveries it moved, or null when no endpoint has one. The endpoint is
-- locked first, as everywhere.
create or replace function work_backlog(most int) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  one webhook;
  moved bigint;
begin
  select * into one from webhook w where w.backlog order by random() limit 1 for no key update skip locked;
  if not found then return null; end if;
  moved := case when one.status = 'enabled' then release_unreadable(one.account_id, one.id) else hold_deliveries(one.account_id, one.id, most) end;
  update webhook w set backlog = false
   where w.account_id = one.account_id and w.id = one.id and not exists (
     select from delivery d where d.webhook_id = one.id and d.account_id = one.account_id
        and case when one.status = 'enabled' then d.status = 'held' and d.held_reason is not null else d.next_attempt_at is not null and d.status in ('pending', 'failed') end);
  return moved;
end $$;
grant execute on function work_backlog to flock_app;
