-- Sums by token with one amount added; a token of nothing is not there.
create or replace function audit_sums_with(sums jsonb, token text, amount numeric) returns jsonb
language sql immutable as $$
  select case when s.sum = 0 then sums - token else sums || jsonb_build_object(token, s.sum) end
    from (select coalesce((sums ->> token)::numeric, 0) + amount as sum) s;
$$;
