-- A page of the addresses of a link that was reported long enough is released: those that never received rest (payments
-- M11, S14). False while a paid one of the page is not archived yet, the link has more, or its time is not over.
-- The lock lets transfers of the link be written meanwhile: they name its key. What a caller takes for the account's
-- time is believed as far as the clock says, as in expire_payment.
create or replace function release_link(of_account text, of_link text, now_at timestamptz) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  at_once constant int := 2000;
  page text[];
  unpaid text[];
  until constant timestamptz := least(now_at, clock_timestamp() + ahead_of(of_account));
begin
  perform from payment_link l
   where l.account_id = of_account and l.id = of_link and l.status = 'closed' and l.monitored_at is null
     and l.monitor_until <= until for no key update;
  if not found then return false; end if;
  page := array(select c.id from checkout_address c
    where c.account_id = of_account and c.link_id = of_link and c.released_at is null
    order by c.account_id, c.link_id, c.id limit at_once);
  if exists (
    select from (
      select c.address_id from checkout_address c
       where c.account_id = of_account and c.id = any (page) and c.paid_at is not null offset 0) c
     where (select a.status from address a where a.account_id = of_account and a.id = c.address_id) = 'active') then
    return false;
  end if;
  with released as (
    update checkout_address c set released_at = greatest(until, c.lent_at)
     where c.account_id = of_account and c.id = any (page) and case when c.released_at is null then true end
    returning c.address_id, c.paid_at)
  select array_agg(r.address_id) into unpaid from released r where r.paid_at is null;
  perform rest_addresses(
    array_fill(of_account, array[coalesce(cardinality(unpaid), 0)]), coalesce(unpaid, '{}'), until);
  if cardinality(page) = at_once then return false; end if;
  update payment_link l set monitored_at = until where l.account_id = of_account and l.id = of_link;
  return true;
end $$;
grant execute on function release_link to flock_app;
