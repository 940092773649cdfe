-- Drops the texts of the audit logs of some organizations, behind `after_org` in their order, whose time is over by the
-- tier of the live account; `seq` and `hash` stay. A plan that keeps less begins to count 30 days after it came.
-- `days` {tier: days, or null for ever}. Answers each organization that it looked at with how many texts went, at most
-- `most` of each.
create or replace function trim_audit(after_org text, days jsonb, orgs int, most int)
returns table (organization_id text, trimmed bigint)
language plpgsql security definer set search_path = flock, pg_temp as $$
#variable_conflict use_column
declare
  head record;
  allowed int;
  gone bigint;
begin
  for head in
    select h.organization_id, h.keeps_days, h.shorter_since, a.state -> 'plan' ->> 'tier' as tier
      from audit_head h join account a on a.account_id = h.organization_id || '_live'
     where h.organization_id > after_org order by h.organization_id limit orgs
  loop
    allowed := (days ->> head.tier)::int;
    if allowed is null or allowed >= coalesce(head.keeps_days, 2147483647) then
      if head.shorter_since is not null or allowed is distinct from head.keeps_days then
        update audit_head h set keeps_days = allowed, shorter_since = null
         where h.organization_id = head.organization_id;
      end if;
    elsif head.shorter_since is null then
      update audit_head h set shorter_since = clock_timestamp() where h.organization_id = head.organization_id;
      allowed := head.keeps_days;
    elsif head.shorter_since > clock_timestamp() - interval '30 days' then
      allowed := head.keeps_days;
    else
      update audit_head h set keeps_days = allowed, shorter_since = null where h.organization_id = head.organization_id;
    end if;
    gone := 0;
    if allowed is not null then
      perform set_config('flock.audit_trim', head.organization_id, true);
      update audit_entry e set text = null
       where e.organization_id = head.organization_id and e.text is not null and e.seq = any (array(
         select o.seq from audit_entry o where o.organization_id = head.organization_id
            and o.at_ms < (extract(epoch from clock_timestamp()) * 1000)::bigint - allowed * 86400000::bigint
          order by o.at_ms limit most));
      get diagnostics gone = row_count;
      perform set_config('flock.audit_trim', '', true);
    end if;
    organization_id := head.organization_id;
    trimmed := gone;
    return next;
  end loop;
end $$;
grant execute on function trim_audit to flock_app;
