-- The part of an append that is about wipes: the row, its letters to all owners, and with `running` whatever is small:
-- keys, endpoints, sessions, policies. The rest is deleted in steps (wipe_step). Console A48, A49.
create or replace function append_wipes(batch jsonb) returns void language plpgsql
set search_path = flock, pg_temp as $$
declare
  one record;
  hook record;
  asked timestamptz;
begin
  for one in select * from jsonb_to_recordset(coalesce(batch -> 'wipes', '[]'))
      r(account_id text, id text, status text, user_id text, scheduled_for timestamptz, at timestamptz) loop
    if one.status in ('scheduled', 'running') and (
        exists (select from import_batch b where b.account_id = one.account_id
            and b.state in ('validating', 'committing', 'rolling_back'))
        or exists (select from sweep_job j where j.account_id = one.account_id and j.ended_at is null)
        or exists (select from bridge_transfer t where t.account_id = one.account_id and t.ended_at is null)) then
      raise exception 'an import, a sweep or a bridge transfer of % is under way', one.account_id
        using errcode = 'check_violation', constraint = 'wipe_waits', table = 'wipe';
    end if;
    -- The owners' time is over by this clock too: that of the node that decided may be ahead.
    if one.status in ('closing', 'running') and exists (
        select from wipe w where w.account_id = one.account_id and w.id = one.id
           and w.scheduled_for > clock_timestamp() + ahead_of(w.account_id)) then
      raise exception 'the wipe of % is not due', one.account_id
        using errcode = 'check_violation', constraint = 'wipe_waits', table = 'wipe';
    end if;
    -- Locked: whoever is at a step is waited for.
    perform 1 from wipe w where one.status = 'done' and w.account_id = one.account_id and w.id = one.id
        and w.step <> 'done' for update;
    if found then
      raise exception 'the wipe of % has steps left', one.account_id
        using errcode = 'check_violation', constraint = 'wipe_waits', table = 'wipe';
    end if;
    if one.status = 'scheduled' then
      -- The owners' 72 hours begin when the database says, whatever the node or the role that writes says.
      asked := clock_timestamp() + ahead_of(one.account_id);
      insert into wipe (account_id, id, status, user_id, asked_at, scheduled_for)
        values (one.account_id, one.id, one.status, one.user_id, asked,
                greatest(one.scheduled_for, asked + interval '72 hours'));
    else
      update wipe w set status = one.status,
          step = case one.status when 'running' then 'pool_address' else w.step end,
          after = case one.status when 'running' then '' else w.after end,
          -- By the clock that wipe_step waits by: that of the node that decided may be behind it.
          began_at = case one.status when 'running' then clock_timestamp() else w.began_at end,
          ended_at = case when one.status in ('done', 'cancelled') then one.at end
       where w.account_id = one.account_id and w.id = one.id;
    end if;
    if one.status in ('scheduled', 'cancelled', 'done') then
      perform write_wipe_letter(w, 'wipe_' || one.status, one.at) from wipe w
       where w.account_id = one.account_id and w.id = one.id;
    end if;
    continue when one.status <> 'running';
    for hook in select w.id from webhook w where w.account_id = one.account_id loop
      update webhook w set status = 'deleted', sealed_secrets = '{}', secret_preview = '', url = '', updated_at = one.at
       where w.account_id = one.account_id and w.id = hook.id;
      perform stop_endpoint(one.account_id, hook.id);
    end loop;
    delete from api_key k where k.account_id = one.account_id
        and k.organization_id = (select a.organization_id from account a where a.account_id = one.account_id);
    delete from pinned_identity p where p.account_id = one.account_id;
    delete from account_key k where k.account_id = one.account_id;
    delete from sweep_policy p where p.account_id = one.account_id;
    update import_catch_up c set done_at = one.at where c.account_id = one.account_id and c.done_at is null;
  end loop;
end $$;
