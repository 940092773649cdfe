-- The part of an append that is about warnings of used-up parts of a plan: a letter to every owner, once for each
-- quota, month and threshold. Console B16.
create or replace function append_warnings(batch jsonb) returns void language plpgsql
set search_path = flock, pg_temp as $$
begin
  if batch ? 'quota_warnings' then
    insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
      select concat_ws('.', w.account_id, w.period, w.quota, w.threshold, u.id), 'quota_warning', u.email, u.id, o.id,
             jsonb_build_object('organization', o.name, 'quota', w.quota, 'threshold', w.threshold::text,
               'used', w.used::text, 'of', w."of"::text, 'period', w.period),
             clock_timestamp(), clock_timestamp()
        from jsonb_to_recordset(batch -> 'quota_warnings')
          w(account_id text, period text, quota text, threshold int, used bigint, "of" bigint)
        join account a on a.account_id = w.account_id
        join organization o on o.id = a.organization_id
        join membership m on m.organization_id = o.id and m.role = 'owner'
        join console_user u on u.id = m.user_id
      on conflict (id) do nothing;
  end if;
end $$;
