-- Endpoints with deliveries that are held for their secret, by (account, id), after one.
create or replace function webhooks_with_unreadable(after_account text, after_id text, wanted int)
returns table (account_id text, id text, sealed_secrets text[])
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.id, w.sealed_secrets from webhook w
   where (w.account_id, w.id) > (after_account, after_id) and w.status = 'enabled'
     and exists (select from delivery d where d.webhook_id = w.id and d.status = 'held' and d.held_reason is not null)
   order by w.account_id, w.id limit wanted;
$$;
grant execute on function webhooks_with_unreadable to flock_app;
