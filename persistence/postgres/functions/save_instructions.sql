-- Keeps the newest record of each instruction: of a transaction that this account built, and of large ones at most
-- `large_most`. Returns the ids that were refused, with the reason (`unknown`, `quota`).
create or replace function save_instructions(of_account text, records jsonb, large_most int)
returns table (id text, reason text)
language sql security definer set search_path = flock, pg_temp as $$
  with asked as (
    select r.id, r.asked_at, r.record,
           -- Scalar: `not exists` in a `case` is planned as a hash of all that the account ever sent.
           case when (select w.id from withdrawal w where w.account_id = of_account and w.id = r.id) is null
               then 'unknown'
                when octet_length(r.record) > 65536
                 and not exists (select from edge_instruction i
                     where i.account_id = of_account and i.transaction_id = r.id
                                    and octet_length(i.record) > 65536)
                 and row_number() over (partition by octet_length(r.record) > 65536 order by r.id)
                   + (select count(*) from edge_instruction i
                       where i.account_id = of_account and octet_length(i.record) > 65536)
                   > large_most then 'quota' end as reason
      from jsonb_to_recordset(records) r(id text, asked_at timestamptz, record text)
  ), taken as (
    insert into edge_instruction as i (account_id, transaction_id, asked_at, record)
      select of_account, a.id, a.asked_at, a.record from asked a where a.reason is null order by a.id
    on conflict (account_id, transaction_id) do update set asked_at = excluded.asked_at, record = excluded.record
      where i.asked_at < excluded.asked_at
  )
  select a.id, a.reason from asked a where a.reason is not null;
$$;
grant execute on function save_instructions to flock_app;
