-- Another link in the place of the one that works, its letter, the answer to the request and its entry of the audit
-- log: all of it or nothing. Answers how many seconds to wait where it was asked for too often (`most` times within
-- `window_seconds`), 0 when it is done, -1 where the request's key has an answer, null where there is no such invoice
-- (payments I6).
create or replace function resend_invoice(of_account text, of_invoice text, token_hash text, letter_id text,
  sealed text, at timestamptz, most int, window_seconds int, answer jsonb, notes jsonb) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_variable
declare
  before timestamptz[];
begin
  perform 1 from invoice i where i.account_id = of_account and i.id = of_invoice for no key update;
  if not found then return null; end if;
  select k.resent into before from invoice_link k where k.account_id = of_account and k.invoice_id = of_invoice;
  before := array(select b from unnest(before) b where b > at - make_interval(secs => window_seconds) order by b);
  if cardinality(before) >= most then
    return greatest(1, ceil(extract(epoch from before[cardinality(before) - most + 1] - at))::int + window_seconds);
  end if;
  if answer is not null and not save_idempotent(answer) then return -1; end if;
  insert into invoice_link as k (account_id, invoice_id, hash, letter_id, minted_at, resent)
    values (of_account, of_invoice, token_hash, letter_id, at, array[at])
  on conflict (account_id, invoice_id) do update set hash = excluded.hash, letter_id = excluded.letter_id,
    minted_at = excluded.minted_at, resent = before || at;
  perform write_invoice_letter(of_account, of_invoice, letter_id, sealed, at);
  perform record_audit(notes);
  return 0;
end $$;
grant execute on function resend_invoice to flock_app;
