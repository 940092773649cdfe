-- Whose a slug or a payment is: who pays names nothing else. What is read of it then is read as that account's.
-- A slug stays after a sandbox reset, so that its link may be gone (payments P6).
create or replace function find_checkout(of_slug text, of_payment text)
returns table (account_id text, link_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select s.account_id, s.link_id from pay_slug s where s.slug = of_slug
  union all
  select p.account_id, p.link_id from payment p where p.id = of_payment
$$;
grant execute on function find_checkout to flock_app;
