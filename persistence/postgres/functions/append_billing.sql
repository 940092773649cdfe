-- The part of an append that is about bills. A number is given by the statement that stores the bill: the counter's row
-- is locked until it commits, and an append that is refused gives no number. Bills of one batch are numbered in its
-- order; a second one of the same month is refused (statement_once), and one of a month that is not over: nobody pays
-- for what a node took for the future.
create or replace function append_billing(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  bill record;
  given int;
begin
  for bill in
    select r.* from jsonb_array_elements(coalesce(batch -> 'statements', '[]')) with ordinality e(value, n),
           jsonb_to_record(e.value) r(account_id text, id text, period text, lines jsonb, total_cents bigint,
                                      settled bigint, issued_at timestamptz)
     order by n
  loop
    -- Ten minutes: what clocks differ by at the end of a month changes nothing of it.
    if bill.period >= to_char((clock_timestamp() + interval '10 minutes') at time zone 'UTC', 'YYYY-MM') then
      raise exception 'the month % is not over', bill.period
        using errcode = 'check_violation', constraint = 'statement_month_over', table = 'statement';
    end if;
    insert into statement_number as s (year, last)
      values (extract(year from bill.issued_at at time zone 'UTC')::int, 1)
      on conflict (year) do update set last = s.last + 1
      returning last into given;
    insert into statement (account_id, id, number, period, lines, total_cents, settled, issued_at)
      values (bill.account_id, bill.id,
              'FLK-' || to_char(bill.issued_at at time zone 'UTC', 'YYYY') || '-' || lpad(given::text, 6, '0'),
              bill.period, bill.lines, bill.total_cents, bill.settled, bill.issued_at);
    if bill.total_cents > 0 then
      insert into collection_request (account_id, statement_id, status, next_at)
        values (bill.account_id, bill.id, 'due', bill.issued_at);
    end if;
  end loop;
  if batch ? 'collections' then
    insert into collection (account_id, id, statement_id, amount_cents, by_user, reason, collected_at)
      select account_id, id, statement_id, amount_cents, by_user, reason, collected_at
        from jsonb_to_recordset(batch -> 'collections') r(account_id text, id text, statement_id text,
            amount_cents bigint, by_user text, reason text, collected_at timestamptz);
  end if;
end $$;
