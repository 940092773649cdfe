-- Refuses a change of a batch or project that is not in the state which its decision was told.
create or replace function import_moved(is_moved boolean) returns void language plpgsql as $$
begin
  if not is_moved then
    raise exception 'a batch or project is in another state'
      using errcode = 'check_violation', constraint = 'import_state', table = 'import_batch';
  end if;
end $$;
