-- An organization, its two accounts and its first owner: one statement. `accounts` [{account_id, environment, shard_id,
-- state}]; `created_by` of the organization is the person who created it by themselves.
create or replace function create_organization(organization jsonb, owner_user text, accounts jsonb) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into organization (id, name, created_at, created_by)
    select id, name, created_at, created_by
      from jsonb_to_record(organization) r(id text, name text, created_at timestamptz, created_by text);
  insert into account (account_id, organization_id, environment, shard_id, state)
    select account_id, organization ->> 'id', environment, shard_id, state
      from jsonb_to_recordset(accounts) r(account_id text, environment text, shard_id int, state jsonb);
  insert into membership (user_id, organization_id, role) values (owner_user, organization ->> 'id', 'owner');
$$;
grant execute on function create_organization to flock_app;
