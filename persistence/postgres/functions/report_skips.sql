-- Adds the first rows that an attempt passes over to its issues, behind those that were found while it read.
create or replace function report_skips(of_account text, of_batch text, of_attempt int, most int) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into import_issue (account_id, batch_id, n, phase, severity, code, line, message)
    select of_account, of_batch, 20000 + row_number() over (order by r.n), 'uniqueness',
           case r.skip when 'duplicate_differs' then 'error' else 'skip' end, r.skip, r.line,
           case r.skip when 'already_in_account' then 'the account has it' else 'the file has it before' end
      from (select b.id from import_batch b
             where b.account_id = of_account and b.id = of_batch and b.state = 'validating' and b.attempt = of_attempt
               for update) b
     cross join lateral (
      select o.n, o.skip, o.line from import_row o
       where o.account_id = of_account and o.batch_id = b.id and o.skip not in ('ADDRESS_CONFLICT', 'dropped_by_review')
       order by o.n limit most) r
  on conflict do nothing;
$$;
grant execute on function report_skips to flock_app;
