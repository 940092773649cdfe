-- Webhook secrets that are sealed under another key than the first of SECRET_KEY, for `flock secrets reseal`. Users and
-- signing keys are written row by row by the application role already.

create function webhooks_sealed_otherwise(prefix text, after_account text, after_id text, wanted int)
returns table (account_id text, id text, sealed_secrets text[])
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.id, w.sealed_secrets from webhook w
   where (w.account_id, w.id) > (after_account, after_id)
     and exists (select from unnest(w.sealed_secrets) s(sealed) where not starts_with(s.sealed, prefix))
   order by w.account_id, w.id limit wanted;
$$;

-- Compare and set: a secret that was rotated meanwhile stays rotated.
create function reseal_webhook(of_account text, endpoint text, before text[], resealed text[]) returns boolean
language sql security definer set search_path = flock, pg_temp as $$
  with changed as (
    update webhook w set sealed_secrets = resealed
     where w.account_id = of_account and w.id = endpoint and w.sealed_secrets = before
    returning 1)
  select exists (select from changed);
$$;
grant execute on function webhooks_sealed_otherwise, reseal_webhook to flock_app;
