-- Work on links by the clock is looked at page by page: one account whose links do not go on hides no other's.
drop index payment_link_retired;
create index payment_link_retired on payment_link (retired_at, account_id, id)
  where retired_at is not null and status <> 'closed';
drop index payment_link_monitored;
create index payment_link_monitored on payment_link (monitor_until, account_id, id)
  where status = 'closed' and monitored_at is null;
drop index payment_link_closing;
create index payment_link_closing on payment_link (closes_at, account_id, id)
  where status <> 'closed' and closes_at is not null;

-- Which of them are of the present identity is known before they are counted (payments S17).
alter table resting_address add column index bigint not null default 0;
update resting_address s set index = a.index from address a where a.account_id = s.account_id and a.id = s.address_id;
delete from resting_address s using account n, address a
 where n.account_id = s.account_id and a.account_id = s.account_id and a.id = s.address_id
   and a.index < (select max((r -> 'next' ->> a.family)::bigint)
                    from jsonb_array_elements(coalesce(n.state -> 'retired', '[]')) r);
drop index resting_address_longest;
create index resting_address_longest on resting_address (account_id, chain, since, address_id, index);
