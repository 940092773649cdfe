-- M5 of payments: an entry moves its payment's confirmed sum and its link's total; nothing else does. Runs as the
-- owner, so that row security hides neither.
create or replace function payment_entry_sums() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  update payment p set confirmed = p.confirmed + new.amount
   where p.account_id = new.account_id and p.id = new.payment_id;
  update payment_link l set amount_raised = l.amount_raised + new.amount
   where l.account_id = new.account_id and l.id = new.link_id;
  return null;
end $$;
