-- A fork is checked together with its branch.
drop function if exists check_fork(text, jsonb, jsonb);
