-- The letter of an invoice to its payer, whose address a wipe takes away. In a sandbox money costs nothing and
-- everybody may make some: there a letter goes to members of the organization alone (payments I5, T10).
create or replace function write_invoice_letter(of_account text, of_invoice text, letter_id text, sealed text,
  at timestamptz) returns void
language sql set search_path = flock, pg_temp as $$
  insert into letter (id, kind, language, recipient, organization_id, sealed_token, facts, created_at, next_attempt_at)
    select letter_id, 'invoice', coalesce(i.language, 'en'), i.customer_email, a.organization_id, sealed,
           jsonb_build_object('accountId', i.account_id, 'invoiceId', i.id, 'number', p.invoice_number,
             'language', coalesce(i.language, ''), 'merchant', coalesce(i.seller_name, ''),
             'title', coalesce(i.title, ''), 'asset', i.asset, 'decimals', i.decimals::text, 'paid', i.paid::text,
             'environment', a.environment),
           at, at
      from invoice i
      join payment p on p.account_id = i.account_id and p.id = i.payment_id
      join account a on a.account_id = i.account_id
     where i.account_id = of_account and i.id = of_invoice and i.customer_email <> ''
       and (a.environment = 'live' or exists (
             select from membership m join console_user u on u.id = m.user_id
              where m.organization_id = a.organization_id and u.email = lower(i.customer_email)))
$$;
