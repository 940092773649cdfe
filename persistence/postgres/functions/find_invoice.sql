-- Whose an invoice is: who has the token of its link names nothing else. What is read of it then is read as that
-- account's (payments I4).
create or replace function find_invoice(token_hash text) returns table (account_id text, invoice_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select l.account_id, l.invoice_id from invoice_link l where l.hash = token_hash
$$;
grant execute on function find_invoice to flock_app;
