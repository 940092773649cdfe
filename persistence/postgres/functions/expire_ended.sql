-- Payments without money of a link that was closed, or opened under an identity that is retired: a bounded number a
-- call, of one link or account. The others of it come with the next call; with none left nothing is behind it (payments
-- P11, S17). Their addresses begin to rest. A decision that is being made on one meanwhile is refused as
-- `payment_rows_moved` and made again. Answers of which link or account, and how many; nothing where none is left.
-- One that fails says why and holds up no other: the caller passes it over for its round.
drop function if exists expire_ended(int); -- a release of before: one that failed was tried for ever
create or replace function expire_ended(most int, passed text[])
returns table (subject text, expired int, trouble text)
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  closed payment_link;
  behind account;
  retired jsonb;
  ids text[];
begin
  select * into closed from payment_link l where l.ending and l.id <> all (passed)
   order by l.account_id, l.id limit 1 for no key update skip locked;
  if found then
    begin
      ids := array(select p.id from payment p
        where p.link_id = closed.id and case when p.status = 'awaiting_payment' then true end
          and case when p.account_id = closed.account_id then true end
        order by p.id limit most);
      perform expire_of(closed.account_id, ids);
      if cardinality(ids) < most then
        update payment_link l set ending = null where l.account_id = closed.account_id and l.id = closed.id;
      end if;
      return query select closed.id, cardinality(ids), null::text;
    exception when others then
      return query select closed.id, 0, sqlerrm;
    end;
    return;
  end if;
  select * into behind from account a where a.ending_until is not null and a.account_id <> all (passed)
   order by a.account_id limit 1 for no key update skip locked;
  if not found then return; end if;
  begin
    -- By its address too: one that a node with a slow clock opened behind the rotation stays.
    select jsonb_object_agg(n.family, n.next) into retired from (
      select e.key as family, max(e.value::bigint) as next
        from jsonb_array_elements(behind.state -> 'retired') i cross join jsonb_each_text(i -> 'next') e
       group by e.key) n;
    ids := array(select p.id from payment p
      where p.account_id = behind.account_id and p.client_key is not null and p.status = 'awaiting_payment'
        and p.opened_at <= behind.ending_until
        and (select a.index < (retired ->> a.family)::bigint from address a
              where a.account_id = p.account_id and a.id = p.address_id)
      limit most);
    perform expire_of(behind.account_id, ids);
    if cardinality(ids) < most then
      update account a set ending_until = null where a.account_id = behind.account_id;
    end if;
    return query select behind.account_id, cardinality(ids), null::text;
  exception when others then
    return query select behind.account_id, 0, sqlerrm;
  end;
end $$;
grant execute on function expire_ended to flock_app;
