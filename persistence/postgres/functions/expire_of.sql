-- Payments of an account without money expire, those of `ids` that still wait, and their addresses begin to rest.
create or replace function expire_of(of_account text, ids text[]) returns void
language plpgsql set search_path = flock, pg_temp as $$
declare
  addresses text[];
begin
  with over as (
    update payment p set status = 'expired', version = p.version + 1, updated_at = clock_timestamp()
     where p.account_id = of_account and p.id = any (ids)
       -- Said as no index says it: an index of all that wait is none by which these are found.
       and coalesce(p.status, '') = 'awaiting_payment'
    returning p.address_id)
  select array_agg(o.address_id) into addresses from over o;
  if addresses is not null then
    perform rest_addresses(array_fill(of_account, array[cardinality(addresses)]), addresses,
      clock_timestamp() + ahead_of(of_account));
  end if;
end $$;
