-- What sandbox accounts had signed before simulated ledgers had ids of their own: their ledgers still take these very bytes.
-- Nothing is added later.
create table sandbox_former (
  ledger text collate "C" not null references sandbox_ledger on delete cascade,
  txid   text collate "C" not null,
  constraint sandbox_former_once primary key (txid, ledger)
);
insert into sandbox_former (ledger, txid)
  select distinct w.ledger, v.value ->> 'txid'
    from withdrawal w join sandbox_ledger using (ledger) cross join lateral jsonb_array_elements(w.versions) v(value);
grant select on sandbox_former to flock_app;
