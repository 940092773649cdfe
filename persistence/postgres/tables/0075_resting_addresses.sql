-- Lent addresses that nobody paid, from when their payment expired: the longest resting one is lent on (payments S13,
-- S14). `heads`: the highest heads known then of the ledgers that the address receives on. What came up to there is
-- known once they were followed so far; only then is it sure that nothing came. Rows go when the address is lent on or
-- receives.
create table resting_address (
  account_id text collate "C" not null,
  address_id text collate "C" not null,
  chain      text not null,
  since      timestamptz not null,
  heads      jsonb not null,
  constraint resting_address_once primary key (account_id, address_id),
  constraint resting_address_of_address foreign key (account_id, address_id) references address (account_id, id)
);
create index resting_address_longest on resting_address (account_id, chain, since, address_id);

-- Of one tenant.
alter table resting_address enable row level security, force row level security;
create policy tenant on resting_address for select to flock_app
  using (account_id = (select current_setting('flock.account', true)));
create policy posting on resting_address to flock_owner using (true) with check (true);
grant select on resting_address to flock_app;

-- Payments that expired before there were resting addresses: they rest from now on. On an empty database none.
insert into resting_address (account_id, address_id, chain, since, heads)
  select c.account_id, c.address_id, a.chain, now(), coalesce((
           select jsonb_object_agg(h.ledger, h.height) from chain_head h
            where split_part(h.ledger, '@', 1) = any (case when a.family = 'evm'
                    then '{eth,bsc,polygon,avax,base}'::text[] else array[a.chain] end)
              and split_part(h.ledger, '@', 2)
                  = case when a.account_id like '%\_sandbox' then a.account_id else '' end), '{}')
    from checkout_address c
    join address a on a.account_id = c.account_id and a.id = c.address_id
    join payment p on p.account_id = c.account_id and p.id = c.payment_id
   where c.released_at is null and c.paid_at is null and p.status = 'expired' and a.status = 'active'
     and not exists (select from deposit d where d.account_id = c.account_id and d.address_id = c.address_id);

-- M11: a closed link's addresses are reported for so long; then its paid ones are archived and the others rest.
alter table payment_link add column monitored_at timestamptz;
create index payment_link_monitored on payment_link (monitor_until) where status = 'closed' and monitored_at is null;
create index checkout_address_by_link on checkout_address (account_id, link_id, id) where released_at is null;
