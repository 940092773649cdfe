-- The link that a letter carries becomes the one that works, as the letter is handed over. False for a letter whose
-- turn is over: its invoice's link was asked for again since, or its invoice is gone (payments I5, I6).
create or replace function mint_invoice_link(of_letter text, token_hash text, at timestamptz) returns boolean
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  insert into invoice_link as k (account_id, invoice_id, hash, letter_id, minted_at)
    select i.account_id, i.id, token_hash, l.id, at
      from letter l join invoice i on i.account_id = l.facts ->> 'accountId' and i.id = l.facts ->> 'invoiceId'
     where l.id = of_letter and l.kind = 'invoice' and l.sent_at is null
  on conflict (account_id, invoice_id) do update set hash = excluded.hash, minted_at = excluded.minted_at
    where k.letter_id = excluded.letter_id;
  return found;
end $$;
grant execute on function mint_invoice_link to flock_app;
