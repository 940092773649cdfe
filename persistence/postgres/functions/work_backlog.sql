-- One page of one endpoint's backlog: held where it was stopped, due where it got another secret. Returns how many
-- deliveries it moved, or null when no endpoint has a backlog. The endpoint is locked first, as everywhere. One that
-- was just stopped keeps its mark for a minute, longer than any statement may run: an append that saw it enabled may
-- commit its deliveries after it was stopped, and they are held like those before them. One that is enabled again while
-- what waited is not all held (`held_through`) receives nothing until it is.
create or replace function work_backlog(most int) returns bigint
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  one webhook;
  moved bigint;
  settled constant timestamptz := clock_timestamp() - interval '1 minute';
begin
  select * into one from webhook w
   where w.backlog and (w.status = 'enabled' or not w.updated_at between settled and clock_timestamp() or exists (
     select from delivery d where d.webhook_id = w.id and d.account_id = w.account_id and d.next_attempt_at is not null
         and d.status in ('pending', 'failed')))
   order by random() limit 1 for no key update skip locked;
  if not found then return null; end if;
  moved := case when one.status = 'enabled' and one.held_through is null then release_unreadable(one.account_id, one.id)
      else hold_deliveries(one.account_id, one.id, most) end;
  if one.held_through is not null then
    update webhook w set held_through = null
     where w.account_id = one.account_id and w.id = one.id and not exists (
       select from delivery d where d.webhook_id = one.id and d.account_id = one.account_id
          and d.next_attempt_at is not null and d.status in ('pending', 'failed')
          and (one.status <> 'enabled' or d.replay = 0 and d.seq <= one.held_through));
  end if;
  update webhook w set backlog = false
   where w.account_id = one.account_id and w.id = one.id and w.held_through is null and (one.status = 'enabled'
       or not one.updated_at between settled and clock_timestamp()) and not exists (
     select from delivery d where d.webhook_id = one.id and d.account_id = one.account_id
        and case when one.status = 'enabled' then d.status = 'held' and d.held_reason is not null
            else d.next_attempt_at is not null and d.status in ('pending', 'failed') end);
  return moved;
end $$;
grant execute on function work_backlog to flock_app;
