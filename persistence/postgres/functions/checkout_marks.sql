-- How payments are, for the pages that are open on them: one question a second for all pages of a node (payments H7).
-- A mark changes with the payment, with a transfer of it, and, while one is unconfirmed, with the head of its chain.
create or replace function checkout_marks(of_payments text[]) returns table (id text, mark text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select p.id, concat_ws('.', p.version, coalesce(t.state, '0'), coalesce(t.height, 0))
    from unnest(of_payments) i(id)
    cross join lateral (select o.account_id, o.id, o.version from payment o where o.id = i.id offset 0) p
    cross join lateral (
      select to_hex(hashtext(string_agg(d.id || '/' || d.incarnation || d.status, ',' order by d.id))) as state,
             max(c.height) filter (where d.status = 'detected') as height
        from (select m.deposit_id, m.incarnation from payment_transfer m
               where m.account_id = p.account_id and m.payment_id = p.id limit 100) f
        cross join lateral (
          select o.id, o.incarnation, o.status, o.ledger from deposit o
           where o.account_id = p.account_id and o.id = f.deposit_id and o.incarnation = f.incarnation offset 0) d
        left join chain_cursor c on c.ledger = d.ledger) t
$$;
grant execute on function checkout_marks to flock_app;
