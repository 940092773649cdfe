-- One payment without money whose time is over by its account's own time (expire_payments). False where it is not, or
-- has moved. What a caller takes for that time is believed as far as the clock says. Ecosystem X75.
create or replace function expire_payment(of_account text, payment_id text, now_at timestamptz) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  address text;
  until constant timestamptz := least(now_at, clock_timestamp() + ahead_of(of_account));
begin
  update payment p set status = 'expired', version = p.version + 1, updated_at = until
   where p.account_id = of_account and p.id = payment_id and p.status = 'awaiting_payment'
     and p.expires_at <= until
  returning p.address_id into address;
  if not found then return false; end if;
  perform rest_addresses(array[of_account], array[address], until);
  return true;
end $$;
grant execute on function expire_payment to flock_app;
