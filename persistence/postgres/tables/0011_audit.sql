-- V7, G24: what the recorded facts say an address holds, and where the chain says otherwise. Evidence, never a credit.

create table discrepancy (
  id             text collate "C" primary key,
  ledger         text collate "C" not null,
  account_id     text collate "C" not null,
  address_id     text collate "C" not null,
  address        text collate "C" not null,
  token_contract text collate "C",
  kind           text   not null constraint discrepancy_kind check (kind in ('unattributed', 'shortfall')),
  amount         amount not null constraint discrepancy_amount_positive check (amount > 0),
  expected       amount not null,
  found          amount not null,
  height         bigint not null,
  evidence       jsonb  not null,
  recorded_at    timestamptz not null,
  -- Growth is found once per height, a shortfall is one finding until it is gone.
  finding        text generated always as (
    coalesce(token_contract, '') || '|' || kind || case kind when 'unattributed' then '|' || height::text else '' end) stored,
  constraint discrepancy_once unique (ledger, address_id, finding)
);
create index discrepancy_by_age on discrepancy (ledger, recorded_at);

-- Balances of the next `most` addresses of a family after a key, or of the given keys; one row per asset that moved and
-- always one of the native coin.
create function ledger_balances(of_ledger text, of_environment text, of_account text, of_family text,
                                after_key uuid, keys uuid[], through_height bigint, most int)
returns table (address_key uuid, address_id text, account_id text, address text, purpose text,
               token_contract text, received numeric, sent numeric, unattributed numeric)
language sql stable security definer set search_path = flock, pg_temp as $$
  with chosen as materialized (
    select g.address_key, a.id, a.account_id, a.address, a.purpose
      from address_registry g join address a on a.account_id = g.account_id and a.id = g.address_id
     where (keys is null or g.address_key = any (keys)) and (after_key is null or g.address_key > after_key)
       and a.environment = of_environment and a.family = of_family and (of_account is null or a.account_id = of_account)
     order by g.address_key limit most
  ), asset as (
    select c.*, null::text as token_contract from chosen c
    union
    select c.*, f.transfer ->> 'tokenContract' from chosen c join fact f on f.ledger = of_ledger and f.address_key = c.address_key
     where f.status in ('seen', 'matured') and f.height <= through_height
  )
  select x.address_key, x.id, x.account_id, x.address, x.purpose, x.token_contract,
    (select coalesce(sum((f.transfer ->> 'amount')::numeric), 0) from fact f
      where f.ledger = of_ledger and f.address_key = x.address_key and f.status in ('seen', 'matured')
        and f.height <= through_height and f.transfer ->> 'tokenContract' is not distinct from x.token_contract),
    -- A failed transaction moved nothing and paid its fee.
    (select coalesce(sum(case when w.status <> 'failed' and w.token_contract is not distinct from x.token_contract then w.amount else 0 end
                         + case when x.token_contract is null then coalesce(w.fee, 0) else 0 end), 0)
       from withdrawal w
      where w.ledger = of_ledger and w.from_address = x.address and w.height <= through_height
        and w.status in ('confirming', 'confirmed', 'failed')),
    (select coalesce(sum(d.amount), 0) from discrepancy d
      where d.ledger = of_ledger and d.address_id = x.id and d.kind = 'unattributed' and d.height <= through_height
        and d.token_contract is not distinct from x.token_contract)
    from asset x
   order by x.address_key, x.token_contract nulls first;
$$;

-- True when the finding is new.
create function record_discrepancy(finding_row jsonb) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  is_new boolean;
begin
  insert into discrepancy as d (id, ledger, account_id, address_id, address, token_contract, kind, amount, expected, found,
                                height, evidence, recorded_at)
    select id, ledger, account_id, address_id, address, token_contract, kind, amount, expected, found, height, evidence, recorded_at
      from jsonb_to_record(finding_row)
        r(id text, ledger text, account_id text, address_id text, address text, token_contract text, kind text,
          amount amount, expected amount, found amount, height bigint, evidence jsonb, recorded_at timestamptz)
  on conflict on constraint discrepancy_once do update
    set amount = excluded.amount, expected = excluded.expected, found = excluded.found, height = excluded.height,
        evidence = excluded.evidence, recorded_at = excluded.recorded_at
    where d.kind = 'shortfall'
  returning xmax = 0 into is_new;
  return coalesce(is_new, false);
end $$;
