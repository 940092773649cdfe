-- The same note in the log of every organization that a user is a member of: sign-ins, factors, passwords. A
-- note without an actor is the user's own.
create or replace function record_audit_of_user(of_user text, note jsonb) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  own jsonb := case when note -> 'actor' ->> 'id' is null
    then note || jsonb_build_object('actor', jsonb_build_object('kind', 'user', 'id', of_user)) else note end;
  notes jsonb := (select jsonb_agg(own || jsonb_build_object('organizationId', m.organization_id))
                    from membership m where m.user_id = of_user);
begin
  if notes is not null then
    perform record_audit(notes);
  end if;
end $$;
grant execute on function record_audit_of_user to flock_app;
