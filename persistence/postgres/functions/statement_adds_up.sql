-- A statement is the sum of its lines, and each line is whole cents. Console B10.
create or replace function statement_adds_up() returns trigger language plpgsql
security definer set search_path = flock, pg_temp as $$
begin
  if new.total_cents is distinct from
     (select coalesce(sum((l ->> 'cents')::bigint), 0) from jsonb_array_elements(new.lines) l) then
    raise exception 'a statement is the sum of its lines'
      using errcode = 'check_violation', constraint = 'statement_adds_up', table = 'statement';
  end if;
  return new;
end $$;
