-- The part of an append that is about payments, after the deposits and the ledger that it hangs on. A link or payment
-- is written over the version that its decision read; a transfer needs the holder of its address that it read; sums are
-- derived by the triggers of the tables, and must be those of the decision (payments M2, M5).
create or replace function append_payments(batch jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
  one record;
  at_once constant int := 500;
begin
  if batch ? 'payment_links' then
    perform payment_rows_moved(
      (select count(*) > count(distinct (r ->> 'account_id', r ->> 'id'))
         from jsonb_array_elements(batch -> 'payment_links') r),
      'a link');
    insert into pay_slug (slug, account_id, link_id)
      select slug, account_id, id
        from jsonb_to_recordset(batch -> 'payment_links') r(account_id text, id text, version bigint, slug text)
       where version = 1;
    insert into payment_link as l (account_id, id, version, slug, mode, address_mode, chain, asset, token_contract,
        decimals, amount, threshold_amount, min_amount, max_amount, closes_at, max_uses, title, description,
        collect_email, success_url, metadata, status, closed_reason, closed_at, closed_at_height, monitor_until,
        address_id, address, derivation_path, created_at, updated_at)
      select account_id, id, version, slug, mode, address_mode, chain, asset, token_contract, decimals, amount,
             threshold_amount, min_amount, max_amount, closes_at, max_uses, title, description, collect_email,
             success_url, metadata, status, closed_reason, closed_at, closed_at_height, monitor_until, address_id,
             address, derivation_path, created_at, updated_at
        from jsonb_to_recordset(batch -> 'payment_links')
          r(account_id text, id text, version bigint, slug text, mode text, address_mode text, chain text, asset text,
            token_contract text, decimals int, amount amount, threshold_amount amount, min_amount amount,
            max_amount amount, closes_at timestamptz, max_uses int, title text, description text,
            collect_email boolean, success_url text, metadata text, status text, closed_reason text,
            closed_at timestamptz, closed_at_height bigint, monitor_until timestamptz, address_id text, address text,
            derivation_path text, created_at timestamptz, updated_at timestamptz)
       -- A scalar subquery, as in append_addresses: `exists` under an `or` is planned as a hash of the whole table.
       where version = 1
          or (select o.id from payment_link o where o.account_id = r.account_id and o.id = r.id) is not null
    on conflict (account_id, id) do update set
      version = excluded.version, threshold_amount = excluded.threshold_amount, min_amount = excluded.min_amount,
      max_amount = excluded.max_amount, closes_at = excluded.closes_at, max_uses = excluded.max_uses,
      title = excluded.title, description = excluded.description, collect_email = excluded.collect_email,
      success_url = excluded.success_url, metadata = excluded.metadata, status = excluded.status,
      closed_reason = excluded.closed_reason, closed_at = excluded.closed_at,
      closed_at_height = excluded.closed_at_height, monitor_until = excluded.monitor_until,
      address_id = excluded.address_id, address = excluded.address, derivation_path = excluded.derivation_path,
      retired_at = case when excluded.address_id is distinct from l.address_id then null else l.retired_at end,
      updated_at = excluded.updated_at
      where l.version = excluded.version - 1;
    get diagnostics written = row_count;
    perform payment_rows_moved(written < jsonb_array_length(batch -> 'payment_links'), 'a link');
  end if;
  if batch ? 'payments' then
    perform payment_rows_moved(
      (select count(*) > count(distinct (r ->> 'account_id', r ->> 'id'))
         from jsonb_array_elements(batch -> 'payments') r),
      'a payment');
    insert into payment as p (account_id, id, link_id, version, status, amount, due, ceiling, seen, late, address_id,
        address, derivation_path, address_reused, customer_email, customer_name, language, payer_key, client_key,
        expires_at, opened_at, updated_at, invoice_id, invoice_number)
      select account_id, id, link_id, version, status, amount, due, ceiling, seen, late, address_id, address,
             derivation_path, address_reused, customer_email, customer_name, language, payer_key, client_key,
             expires_at, opened_at, updated_at, invoice_id, invoice_number
        from jsonb_to_recordset(batch -> 'payments')
          r(account_id text, id text, link_id text, version bigint, status text, amount amount, due amount,
            ceiling amount, seen amount, late amount, address_id text, address text, derivation_path text,
            address_reused boolean, customer_email text, customer_name text, language text, payer_key text,
            client_key text, expires_at timestamptz, opened_at timestamptz, updated_at timestamptz, invoice_id text,
            invoice_number text)
       where version = 1
          or (select o.id from payment o where o.account_id = r.account_id and o.id = r.id) is not null
    on conflict (account_id, id) do update set
      version = excluded.version, status = excluded.status, seen = excluded.seen, late = excluded.late,
      customer_email = excluded.customer_email, customer_name = excluded.customer_name,
      payer_key = excluded.payer_key, client_key = excluded.client_key, expires_at = excluded.expires_at,
      -- A release before does not name them.
      invoice_id = coalesce(excluded.invoice_id, p.invoice_id),
      invoice_number = coalesce(excluded.invoice_number, p.invoice_number),
      updated_at = excluded.updated_at
      where p.version = excluded.version - 1;
    get diagnostics written = row_count;
    perform payment_rows_moved(written < jsonb_array_length(batch -> 'payments'), 'a payment');
    -- What a payer opens: on a link that still takes payments, and one at a time (S2, P11).
    perform payment_rows_moved(exists (
      select from jsonb_to_recordset(batch -> 'payments')
          r(account_id text, id text, link_id text, version bigint, payer_key text, opened_at timestamptz)
        join payment_link l on l.account_id = r.account_id and l.id = r.link_id
       where r.version = 1 and r.payer_key is not null
         and (l.status <> 'active' or (
           -- Of this payer alone, by the index that has the payers: not of all who have a payment open.
           select o.id from (
             select p.id, p.account_id, p.status, p.expires_at from payment p
              where p.link_id = r.link_id and p.payer_key = r.payer_key offset 0) o
            where o.account_id = r.account_id and o.id <> r.id and o.status = 'awaiting_payment'
              and o.expires_at > r.opened_at limit 1) is not null)),
      'a payer');
  end if;
  if batch ? 'checkout_addresses' then
    -- An address that had a holder is lent on while it rests, or by the holder whose payment is over; one that received
    -- is never lent again (S13, S14).
    perform payment_rows_moved(exists (
      select from jsonb_to_recordset(batch -> 'checkout_addresses') r(account_id text, id text, address_id text)
        join checkout_address c on c.account_id = r.account_id and c.address_id = r.address_id and c.id <> r.id
       where (select o.id from checkout_address o where o.account_id = r.account_id and o.id = r.id) is null
         and (c.paid_at is not null or (c.released_at is null and not exists (
                select from jsonb_to_recordset(batch -> 'checkout_addresses')
                  x(account_id text, id text, released_at timestamptz)
                 where x.account_id = c.account_id and x.id = c.id and x.released_at is not null)))), 'a lent address');
    delete from resting_address s using jsonb_to_recordset(batch -> 'checkout_addresses')
        r(account_id text, address_id text)
     where s.account_id = r.account_id and s.address_id = r.address_id;
    -- The newest holder is who has it, whatever the clocks of the nodes say that lend it.
    insert into checkout_address as c (account_id, id, address_id, link_id, payment_id, reused, lent_at, released_at,
        paid_at)
      select account_id, id, address_id, link_id, payment_id, reused,
             case when (select o.id from checkout_address o where o.account_id = r.account_id and o.id = r.id) is null
               then greatest(lent_at, (select o.lent_at + interval '1 millisecond' from checkout_address o
                 where o.account_id = r.account_id and o.address_id = r.address_id
                 order by o.account_id, o.address_id, o.lent_at desc, o.id desc limit 1)) else lent_at end,
             case when released_at is not null then greatest(released_at, lent_at) end, paid_at
        from jsonb_to_recordset(batch -> 'checkout_addresses')
          r(account_id text, id text, address_id text, link_id text, payment_id text, reused boolean,
            lent_at timestamptz, released_at timestamptz, paid_at timestamptz)
    on conflict (account_id, id) do update set released_at = coalesce(c.released_at, excluded.released_at),
      paid_at = coalesce(c.paid_at, excluded.paid_at);
  end if;
  if batch ? 'payment_transfers' then
    perform payment_rows_moved(exists (
      select from jsonb_to_recordset(batch -> 'payment_transfers')
          r(account_id text, deposit_id text, incarnation int, link_id text)
        join deposit d on d.account_id = r.account_id and d.id = r.deposit_id
       where not exists (select from payment_transfer e
                          where e.deposit_id = r.deposit_id and e.incarnation < r.incarnation)
         and r.link_id is distinct from (
           select c.link_id from checkout_address c
            where c.account_id = d.account_id and c.address_id = d.address_id
            order by c.account_id, c.address_id, c.lent_at desc, c.id desc limit 1)), 'the holder of an address');
    insert into payment_transfer (account_id, deposit_id, incarnation, link_id, payment_id, role)
      select account_id, deposit_id, incarnation, link_id, payment_id, role
        from jsonb_to_recordset(batch -> 'payment_transfers')
          r(account_id text, deposit_id text, incarnation int, link_id text, payment_id text, role text);
  end if;
  if batch ? 'payment_entries' then
    insert into payment_entry (account_id, deposit_id, incarnation, kind, link_id, payment_id, amount)
      select account_id, deposit_id, incarnation, kind, link_id, payment_id, amount
        from jsonb_to_recordset(batch -> 'payment_entries')
          r(account_id text, deposit_id text, incarnation int, kind text, link_id text, payment_id text, amount amount);
  end if;
  if batch ? 'invoices' then
    insert into invoice (account_id, id, link_id, payment_id, year, number, issued_at, time_zone, language, chain,
        asset, token_contract, decimals, address, amount, paid, overpaid, short, seller_name, seller_address,
        seller_tax_id, support_email, customer_email, customer_name, title, description, transfers)
      select account_id, id, link_id, payment_id, year, number, issued_at, time_zone, language, chain, asset,
             token_contract, decimals, address, amount, paid, overpaid, short, seller_name, seller_address,
             seller_tax_id, support_email, customer_email, customer_name, title, description, transfers
        from jsonb_to_recordset(batch -> 'invoices')
          r(account_id text, id text, link_id text, payment_id text, year int, number int, issued_at timestamptz,
            time_zone text, language text, chain text, asset text, token_contract text, decimals int, address text,
            amount amount, paid amount, overpaid amount, short amount, seller_name text, seller_address text,
            seller_tax_id text, support_email text, customer_email text, customer_name text, title text,
            description text, transfers text)
       order by account_id, year, number;
    perform write_invoice_letter(account_id, id, id, null, issued_at)
       from jsonb_to_recordset(batch -> 'invoices') r(account_id text, id text, issued_at timestamptz);
  end if;
  if batch ? 'payments_expired' then
    -- A page with the link; the others of one with more go behind this, and count as expired by their link (P11).
    for one in select * from jsonb_to_recordset(batch -> 'payments_expired') r(account_id text, link_id text) loop
      perform expire_of(one.account_id, array(
        select p.id from payment p
         where p.link_id = one.link_id and case when p.status = 'awaiting_payment' then true end
           and case when p.account_id = one.account_id then true end
         order by p.id limit at_once));
      update payment_link l set ending = true
       where l.account_id = one.account_id and l.id = one.link_id
         and (select p.id from payment p
               where p.link_id = l.id and case when p.status = 'awaiting_payment' then true end
                 and case when p.account_id = l.account_id then true end limit 1) is not null;
    end loop;
  end if;
  if batch ? 'payments_retired' then
    for one in select * from jsonb_to_recordset(batch -> 'payments_retired') r(account_id text) loop
      perform expire_of(one.account_id, array(
        select p.id from payment p
         where p.account_id = one.account_id and p.client_key is not null and p.status = 'awaiting_payment'
         order by p.client_key limit at_once));
    end loop;
    update payment_link l set retired_at = clock_timestamp()
      from jsonb_to_recordset(batch -> 'payments_retired') r(account_id text)
     where l.account_id = r.account_id and l.address_mode = 'shared' and l.status <> 'closed';
    -- As many addresses may rest as were ever lent: their rows go behind this (forget_resting).
    update account a set resting_until = clock_timestamp() + ahead_of(a.account_id),
        ending_until = clock_timestamp() + ahead_of(a.account_id)
      from jsonb_to_recordset(batch -> 'payments_retired') r(account_id text)
     where a.account_id = r.account_id;
  end if;
  perform check_payment_sums(batch);
end $$;
