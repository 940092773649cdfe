-- For an administrator: rows of a batch that other accounts claim, with whose they are, behind one of them. A claim
-- that a lever of the sandbox made is nobody's.
create or replace function claims_of_review(of_review text, after_n int, most int)
returns table (n int, line int, chain text, address text, claimed_by text, claimed_at timestamptz, batch_id text,
  is_used boolean)
language sql security definer set search_path = flock, pg_temp as $$
  with page as materialized (
    select r.n, r.line, r.chain, r.address, r.address_key, v.account_id from import_review v
      join import_row r on r.account_id = v.account_id and r.batch_id = v.batch_id
     where v.id = of_review and r.n > after_n and r.skip in ('ADDRESS_CONFLICT', 'dropped_by_review')
     order by r.n limit most
  )
  select p.n, p.line, p.chain, p.address, a.account_id, a.created_at, a.batch_id,
         exists (select from deposit d where d.account_id = a.account_id and d.address_id = a.id)
    from page p
    left join address_registry g on g.address_key = p.address_key and g.account_id <> p.account_id
    left join address a on a.account_id = g.account_id and a.id = g.address_id
   order by p.n;
$$;
grant execute on function claims_of_review to flock_app;
