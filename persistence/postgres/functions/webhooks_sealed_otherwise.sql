-- Endpoints with secrets that are sealed under another key than the first of SECRET_KEY, for `flock secrets reseal`.
-- The application writes the secrets of users and signing keys row by row itself.
create or replace function webhooks_sealed_otherwise(prefix text, after_account text, after_id text, wanted int)
returns table (account_id text, id text, sealed_secrets text[])
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.id, w.sealed_secrets from webhook w
   where (w.account_id, w.id) > (after_account, after_id)
     and exists (select from unnest(w.sealed_secrets) s(sealed) where not starts_with(s.sealed, prefix))
   order by w.account_id, w.id limit wanted;
$$;
grant execute on function webhooks_sealed_otherwise to flock_app;
