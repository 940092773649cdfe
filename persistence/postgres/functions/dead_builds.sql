-- Builds that nobody signed and that did not change until `changed_until`, oldest first, after the last one of the page
-- before. The caller makes them built ──▶ expired.
create or replace function dead_builds(changed_until timestamptz, behind_at timestamptz, behind_account text,
    behind_id text, most int)
returns table (account_id text, id text, chain text, from_address text, replay_key jsonb, updated_at timestamptz)
language sql stable security definer set search_path = flock, pg_temp as $$
  select w.account_id, w.id, w.chain, w.from_address, w.unsigned -> 'replayKey', w.updated_at
    from withdrawal w
   where w.status = 'built' and w.updated_at <= changed_until
     and (w.updated_at, w.account_id, w.id) > (behind_at, behind_account, behind_id)
   order by w.updated_at, w.account_id, w.id limit most;
$$;
grant execute on function dead_builds to flock_app;
