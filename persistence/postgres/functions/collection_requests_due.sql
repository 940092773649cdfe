-- Statements whose provider is to be asked, or told, now. Console B18.
create or replace function collection_requests_due(now_at timestamptz, wanted int)
returns table (account_id text, statement_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select r.account_id, r.statement_id from collection_request r
   where r.status <> 'closed' and r.next_at <= now_at
   order by r.next_at limit wanted;
$$;
grant execute on function collection_requests_due to flock_app;
