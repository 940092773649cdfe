-- Compare and set: a secret that was rotated meanwhile stays rotated.
create or replace function reseal_webhook(of_account text, endpoint text, before text[], resealed text[])
returns boolean
language sql security definer set search_path = flock, pg_temp as $$
  with changed as (
    update webhook w set sealed_secrets = resealed
     where w.account_id = of_account and w.id = endpoint and w.sealed_secrets = before
    returning 1)
  select exists (select from changed);
$$;
grant execute on function reseal_webhook to flock_app;
