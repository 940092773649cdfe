-- How far one step of counting goes that may read `most` rows of a side: `upto` where there are fewer, else the last
-- height that is whole within them. Rows of one height are never parted: a block has so many.
create or replace function audit_step(of_ledger text, of_side text, of_subject text, above bigint, upto bigint,
                                      most int)
returns bigint language sql stable as $$
  select case when count(*) < most then upto
              when min(r.height) = max(r.height) then max(r.height)
              else max(r.height) - 1 end
    from audit_rows(of_ledger, of_side, of_subject, above, upto, most) r;
$$;
