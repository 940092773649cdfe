-- Before a payment is opened on a link: how many wait on it, of them those of one e-mail, those of one client of
-- the account, each counted to `most`, and the newest payment of the same payer (payments S2, S20). What is over at
-- `at_time` waits no more, though it may not be written yet. Only in the tenant's own session, as its policies
-- read. The account is compared, and no index is looked for by it: an account has millions of payments (table
-- 0145).
create or replace function openings(of_account text, of_link text, of_email text, of_client text, of_payer text,
    at_time timestamptz, most int)
returns table (waiting bigint, of_same_email bigint, of_same_client bigint, earlier text)
language sql stable security definer set search_path = flock, pg_temp set enable_seqscan = off as $$
  select (select count(*) from (select from payment p
            where p.link_id = of_link and case when p.status = 'awaiting_payment' then true end
              and case when p.account_id = of_account then p.expires_at > at_time end limit most) w),
         (select count(*) from (select from payment p
            where p.customer_email is not null
              and p.link_id || ' ' || lower(p.customer_email) = of_link || ' ' || of_email
              and case when p.status = 'awaiting_payment' then true end
              and case when p.account_id = of_account then p.expires_at > at_time end limit most) w),
         (select count(*) from (select from payment p
            where p.client_key is not null and p.client_key = of_client
              and case when p.status = 'awaiting_payment' then true end
              and case when p.account_id = of_account then p.expires_at > at_time end limit most) w),
         (select p.id from payment p
           where p.payer_key is not null and p.payer_key = of_payer and p.link_id = of_link
             and case when p.account_id = of_account then true end
           order by p.payer_key desc, p.link_id desc, p.id desc limit 1)
   where of_account = current_setting('flock.account', true)
$$;
grant execute on function openings to flock_app;
