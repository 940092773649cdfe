-- What a decision says that payments and links are after it, against what the triggers derived: a decision that counted
-- otherwise than the entries is a broken program, and nothing of its append is written (payments M5).
create or replace function check_payment_sums(batch jsonb) returns void language plpgsql
set search_path = flock, pg_temp as $$
begin
  if exists (
    select from jsonb_to_recordset(coalesce(batch -> 'payments', '[]'))
        r(account_id text, id text, confirmed amount, status text, due amount)
      join payment p using (account_id, id)
     where p.confirmed <> r.confirmed or p.confirmed > p.seen or (p.confirmed >= p.due) <> (p.status = 'confirmed')
    union all
    select from jsonb_to_recordset(coalesce(batch -> 'payment_links', '[]'))
        r(account_id text, id text, amount_raised amount, payment_count int, uses int)
      join payment_link l using (account_id, id)
     where (l.amount_raised, l.payment_count, l.uses) is distinct from (r.amount_raised, r.payment_count, r.uses)
  ) then
    raise exception 'the sums of a payment or link are not those of its entries'
      using errcode = 'check_violation', constraint = 'payment_sums', table = 'payment';
  end if;
end $$;
