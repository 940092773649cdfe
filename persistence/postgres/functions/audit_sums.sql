-- Sums by token with those of some more rows of a side added: of (`above`, `upto`], however many these are.
create or replace function audit_sums(sums jsonb, of_ledger text, of_side text, of_subject text, above bigint,
                                      upto bigint)
returns jsonb language sql stable as $$
  select coalesce(jsonb_object_agg(x.token, x.amount), '{}') from (
    select a.token, sum(a.amount) as amount from (
      select s.key as token, s.value::numeric as amount from jsonb_each_text(sums) s
      union all
      select m.token, m.amount from (
        select case n.part when 0 then r.token else '' end as token, case n.part when 0 then r.amount else r.fee end
            as amount
          from audit_rows(of_ledger, of_side, of_subject, above, upto, null) r
         cross join generate_series(0, 1) n(part)) m
    ) a group by a.token having sum(a.amount) <> 0) x;
$$;
