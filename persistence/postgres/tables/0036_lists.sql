-- Indexes and counts of lists. Each equality filter of a list, alone and with others, is served by one index that ends in the
-- list's order. A filter that an index names and a request leaves out has few values (chain, status, event): the list
-- merges the ranges of each value. So a page reads as many rows as it shows, whatever else the account holds.

-- Each is partial, also where its condition always holds: only a query that names the column may take it. A read of one row,
-- planned while the table is small, would else keep it (0001: the keys of point reads are made last).

-- The planner must prefer the index that names all of the filters, although most rows may carry one and the same value.
alter table address alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);
alter table deposit alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);
alter table withdrawal alter column user_ref set (n_distinct = 1000), alter column tag set (n_distinct = 1000);
alter table delivery alter column webhook_id set (n_distinct = 1000);

drop index address_by_user;
create index address_by_kind on address (account_id, chain, status, id) where purpose = 'deposit';
create index address_by_user on address (account_id, user_ref, chain, status, id) where user_ref is not null;
create index address_by_tag on address (account_id, tag, chain, status, id) where tag is not null;
create index address_by_user_tag on address (account_id, user_ref, tag, chain, status, id) where user_ref is not null and tag is not null;
-- Gas tanks and treasuries, which every decision about deposits reads.
create index address_own on address (account_id, id) where purpose <> 'deposit';

create index deposit_by_kind on deposit (account_id, chain, status, created_at, id) where chain is not null;
create index deposit_by_user on deposit (account_id, user_ref, chain, status, created_at, id) where user_ref is not null;
create index deposit_by_tag on deposit (account_id, tag, chain, status, created_at, id) where tag is not null;
create index deposit_by_user_tag on deposit (account_id, user_ref, tag, chain, status, created_at, id)
  where user_ref is not null and tag is not null;

create index withdrawal_by_kind on withdrawal (account_id, chain, status, created_at, id) where chain is not null;
create index withdrawal_by_user on withdrawal (account_id, user_ref, chain, status, created_at, id) where user_ref is not null;
create index withdrawal_by_tag on withdrawal (account_id, tag, chain, status, created_at, id) where tag is not null;
create index withdrawal_by_user_tag on withdrawal (account_id, user_ref, tag, chain, status, created_at, id)
  where user_ref is not null and tag is not null;

-- The event's name beside the delivery, so that an index can hold it. Not null when the functions write it (count_listed.sql).
alter table delivery add column event text;
update delivery d set event = p.event from publication p where p.account_id = d.account_id and p.event_id = d.event_id;
create index delivery_by_kind on delivery (account_id, status, event, id) where status is not null;
create index delivery_by_webhook on delivery (account_id, webhook_id, status, event, id) where status is not null;

-- Rows of each unfiltered list. Inserts and deletes count in rows of their own: an append holds its account, so inserts of one
-- account never wait for each other, and a purge never waits for an append.
create table list_count (
  account_id text collate "C" not null references account,
  list       text not null constraint list_count_list check (list in ('address', 'deposit', 'withdrawal', 'delivery')),
  part       smallint not null constraint list_count_part check (part in (0, 1)),
  rows       bigint not null constraint list_count_sign check (case part when 0 then rows >= 0 else rows <= 0 end),
  constraint list_count_once primary key (account_id, list, part)
) with (fillfactor = 50);
alter table list_count enable row level security;
alter table list_count force row level security;
create policy tenant on list_count for select to flock_app using (account_id = (select current_setting('flock.account', true)));
create policy posting on list_count to flock_owner using (true) with check (true);
grant select on list_count to flock_app;
