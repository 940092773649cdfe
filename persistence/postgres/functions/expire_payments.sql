-- Payments without money whose time is over, oldest first (payments S6, S12); their addresses begin to rest (S14). A
-- decision that is being made on one of them meanwhile is refused as `payment_rows_moved` and made again. What is over
-- is over by this database's clock: a caller whose clock is ahead takes no payer's time.
create or replace function expire_payments(now_at timestamptz, wanted int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  accounts text[];
  addresses text[];
  until constant timestamptz := least(now_at, clock_timestamp());
begin
  with over as (
  update payment p set status = 'expired', version = p.version + 1, updated_at = until
    from (select d.account_id, d.id from payment d
           where d.status = 'awaiting_payment' and d.expires_at <= until
           order by d.expires_at limit wanted for update skip locked) due
   where p.account_id = due.account_id and p.id = due.id
  returning p.account_id, p.address_id)
  select array_agg(o.account_id), array_agg(o.address_id) into accounts, addresses from over o;
  if accounts is null then return 0; end if;
  perform rest_addresses(accounts, addresses, until);
  return cardinality(accounts);
end $$;
grant execute on function expire_payments to flock_app;
