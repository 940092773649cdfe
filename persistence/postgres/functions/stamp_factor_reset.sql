-- When a reset of factors was asked for, confirmed and ended is by the database's clock, whatever its writer says: what
-- waits 72 hours waits them. What was written as the wait stays the wait. Console A25.
create or replace function stamp_factor_reset() returns trigger language plpgsql as $$
declare
  at constant timestamptz := clock_timestamp();
begin
  if tg_op = 'INSERT' then
    new.asked_at := at;
  end if;
  if new.confirmed_at is not null and (tg_op = 'INSERT' or old.confirmed_at is null) then
    new.due_at := at + (new.due_at - new.confirmed_at);
    new.confirmed_at := at;
  end if;
  if new.ended_at is not null and (tg_op = 'INSERT' or old.ended_at is null) then
    new.ended_at := at;
  end if;
  return new;
end $$;
