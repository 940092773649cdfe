-- A provider says that something happened to what was opened there: it is due, whatever becomes of who was told. The
-- answer is the statement that it is for, none for a reference of nobody, or of one that is closed. Console B18.
create or replace function ring_collection_request(of_provider text, of_reference text, now_at timestamptz)
returns table (account_id text, statement_id text)
language sql security definer set search_path = flock, pg_temp as $$
  update collection_request r set next_at = now_at
   where r.provider = of_provider and r.reference = of_reference and r.status <> 'closed'
  returning r.account_id, r.statement_id;
$$;
grant execute on function ring_collection_request to flock_app;
