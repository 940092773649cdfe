-- The part of an append that begins a sandbox reset: the mark. Begun twice it is one. A live account has none (I10).
create or replace function append_resets(batch jsonb) returns void language plpgsql
set search_path = flock, pg_temp as $$
begin
  if batch ? 'sandbox_resets_begun' then
    if exists (select from jsonb_to_recordset(batch -> 'sandbox_resets_begun') r(account_id text)
                where r.account_id not like '%\_sandbox') then
      raise exception 'a live account is not begun anew'
        using errcode = 'check_violation', constraint = 'reset_only_sandbox', table = 'account';
    end if;
    insert into sandbox_reset (account_id)
      select r.account_id from jsonb_to_recordset(batch -> 'sandbox_resets_begun') r(account_id text)
    on conflict do nothing;
  end if;
end $$;
