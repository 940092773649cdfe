-- Refuses what would change the past: for tables that only grow. The argument is the table's name; a partition has its
-- own.
create or replace function append_only() returns trigger language plpgsql as $$
begin
  -- A sandbox reset deletes what its own account wrote; it never touches a live account (I10).
  if tg_op = 'DELETE' and to_jsonb(old) ->> 'account_id' = current_setting('flock.sandbox_reset', true)
     and to_jsonb(old) ->> 'account_id' like '%\_sandbox' then
    return old;
  end if;
  -- A batch that is taken back gives up its claims (release_import).
  if tg_op = 'DELETE' and tg_argv[0] = 'address_registry'
     and to_jsonb(old) ->> 'account_id' = current_setting('flock.import_release', true) then
    return old;
  end if;
  -- A wipe takes extended keys and labels out of the stream of its account (wipe_step).
  if tg_op = 'UPDATE' and tg_argv[0] = 'event' and to_jsonb(old) ->> 'account_id' = current_setting('flock.wipe', true)
     and to_jsonb(new) - 'body' = to_jsonb(old) - 'body' then
    return new;
  end if;
  -- It takes the payer from the invoices of its account as well; nothing else of them changes.
  if tg_op = 'UPDATE' and tg_argv[0] = 'invoice'
     and to_jsonb(old) ->> 'account_id' = current_setting('flock.wipe', true)
     and to_jsonb(new) ->> 'customer_email' = '' and to_jsonb(new) -> 'customer_name' = 'null'
     and to_jsonb(new) - '{customer_email,customer_name}'::text[]
       = to_jsonb(old) - '{customer_email,customer_name}'::text[] then
    return new;
  end if;
  raise exception '% is append-only: % refused', tg_argv[0], tg_op
    using errcode = 'check_violation', constraint = tg_argv[0] || '_append_only', table = tg_table_name;
end $$;
