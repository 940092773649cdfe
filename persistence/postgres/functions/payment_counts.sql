-- M5, P13 of payments: the counts of a link follow the statuses of its payments; nothing else moves them. Runs as the
-- owner, so that row security hides no link.
create or replace function payment_counts() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  before text := case tg_op when 'UPDATE' then old.status else '' end;
begin
  update payment_link l
     set payment_count = l.payment_count + (new.status = 'confirmed')::int - (before = 'confirmed')::int,
         uses = l.uses + (new.status in ('confirmed', 'detected', 'underpaid'))::int
                       - (before in ('confirmed', 'detected', 'underpaid'))::int
   where l.account_id = new.account_id and l.id = new.link_id;
  return null;
end $$;
