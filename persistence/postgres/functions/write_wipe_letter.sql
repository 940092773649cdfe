-- To every owner of the account's organization, once for each kind.
create or replace function write_wipe_letter(of_wipe wipe, kind text, now_at timestamptz) returns bigint
language sql set search_path = flock, pg_temp as $$
  with written as (
    insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
      select of_wipe.id || '.' || kind || '.' || u.id, kind, u.email, u.id, o.id,
             jsonb_build_object('organization', o.name, 'environment', a.environment,
               'by', coalesce((select b.email from console_user b where b.id = of_wipe.user_id), ''),
               'at', to_char(of_wipe.scheduled_for at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
             now_at, clock_timestamp()
        from account a
        join organization o on o.id = a.organization_id
        join membership m on m.organization_id = o.id and m.role = 'owner'
        join console_user u on u.id = m.user_id
       where a.account_id = of_wipe.account_id
      on conflict (id) do nothing
      returning 1)
  select count(*) from written;
$$;
