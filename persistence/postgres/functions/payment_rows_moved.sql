-- Refuses an append whose decision about payments was made on rows that changed meanwhile: they are read again, and it
-- is decided again (payments M2).
create or replace function payment_rows_moved(moved boolean, what text) returns void language plpgsql as $$
begin
  if moved then
    raise exception '% moved after a decision had read it', what
      using errcode = 'check_violation', constraint = 'payment_rows_moved', table = 'payment';
  end if;
end $$;
