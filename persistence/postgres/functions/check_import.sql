-- Which rows of a batch are not adopted: repeated in it, in the account already, or claimed by another account. Looks
-- at `most` rows behind one; returns the last one, null at the end, and how many had each code. Whose a foreign claim
-- is, and in which line, is not said (M-I7); once an administrator let the batch go on without them they are left out.
create or replace function check_import(of_account text, of_batch text, after_n int, most int)
returns table (last_n int, codes jsonb)
language sql security definer set search_path = flock, pg_temp as $$
  with page as materialized (
    select r.n, r.address_key, r.user_ref, r.chain, r.skip from import_row r
     where r.account_id = of_account and r.batch_id = of_batch and r.n > after_n order by r.n limit most
  ), judged as materialized (
    select p.n, p.skip, b.filled,
           case when f.n is not null then
                  case when p.user_ref is not null and f.user_ref is not null and p.user_ref <> f.user_ref
                    then 'duplicate_differs'
                    when p.chain <> f.chain then 'same_address_other_network' else 'duplicate' end
                when g.account_id = of_account then 'already_in_account'
                when g.account_id is not null or c.account_id is not null then
                  case when b.drops_claimed then 'dropped_by_review' else 'ADDRESS_CONFLICT' end end as found,
           f.n is null and g.account_id = of_account and p.user_ref is not null and (
             select a.user_ref from address a where a.account_id = g.account_id and a.id = g.address_id)
               is distinct from p.user_ref as is_kept
      from page p cross join (
        select b.drops_claimed, b.filled from import_batch b where b.account_id = of_account and b.id = of_batch) b
      left join lateral (
        select o.n, o.user_ref, o.chain from import_row o
         where o.account_id = of_account and o.batch_id = of_batch and o.address_key = p.address_key and o.n < p.n
         order by o.n limit 1) f on true
      left join lateral (
        select r.account_id, r.address_id from address_registry r where r.address_key = p.address_key) g on true
      left join simulated_claim c on c.account_id = of_account and c.address_key = p.address_key
  ), written as (
    update import_row r set skip = j.found from judged j
     where r.account_id = of_account and r.batch_id = of_batch and r.n = j.n and j.skip is distinct from j.found
       -- What is an address by now was not passed over.
       and j.n > j.filled
  ), counted as (
    select c.code, count(*) as rows from (
      select j.found as code from judged j where j.found is not null
      union all select 'user_ref_kept' from judged j where j.is_kept) c group by c.code
  )
  select (select max(p.n) from page p), coalesce((select jsonb_object_agg(c.code, c.rows) from counted c), '{}');
$$;
grant execute on function check_import to flock_app;
