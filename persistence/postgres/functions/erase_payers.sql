-- E-mail, name and marks of payers whose payment never had money, so long after it expired (payments S23). Answers how
-- many payments it was.
create or replace function erase_payers(before_at timestamptz, wanted int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  erased int;
begin
  update payment p set customer_email = null, customer_name = null, payer_key = null, client_key = null,
      version = p.version + 1
    from (select d.account_id, d.id from payment d
           where d.status = 'expired' and d.client_key is not null
             and d.updated_at <= least(before_at, statement_timestamp() - interval '30 days')
           order by d.updated_at limit wanted for update skip locked) due
   where p.account_id = due.account_id and p.id = due.id;
  get diagnostics erased = row_count;
  return erased;
end $$;
grant execute on function erase_payers to flock_app;
