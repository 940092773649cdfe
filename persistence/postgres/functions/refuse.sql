-- What a constraint cannot say about old and new rows together, a trigger says in its WHEN; it refuses under the name
-- that it passes, as if it were a constraint. A WHEN costs what a check costs, a trigger's body fifty times that.
create or replace function refuse() returns trigger language plpgsql as $$
begin
  raise exception '% of % refused: %', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'check_violation', constraint = tg_argv[0], table = tg_table_name;
end $$;
