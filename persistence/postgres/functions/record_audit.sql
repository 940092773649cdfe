-- Entries of the audit log: called by the statement of the effect, so that neither is there without the other. `notes`
-- [{organizationId, actor: {kind, id}, via, action, target, outcome, …}]; the name that the actor has now is read here,
-- a note's `seq`, `at` and `organization` are this function's. Heads are locked in the order of their organizations,
-- and the last thing that a statement locks.
create or replace function record_audit(notes jsonb) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  note jsonb;
  org text;
  actor jsonb;
  last_seq bigint;
  last_hash bytea;
  last_at bigint;
  body text;
begin
  for note in select n.value from jsonb_array_elements(notes) with ordinality n(value, place)
               order by n.value ->> 'organizationId' collate "C", n.place loop
    org := note ->> 'organizationId';
    -- Of an outside issuer's organization that is none of ours nothing changes, and there is no log.
    continue when not exists (select from organization o where o.id = org);
    insert into audit_head (organization_id, hash)
      select org, sha256(convert_to(org, 'UTF8'))
       where not exists (select from audit_head h where h.organization_id = org)
    on conflict do nothing;
    select h.seq, h.hash, h.at_ms into last_seq, last_hash, last_at
      from audit_head h where h.organization_id = org for no key update;
    last_seq := last_seq + 1;
    last_at := greatest(last_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
    actor := note -> 'actor';
    actor := actor || jsonb_build_object('name', case actor ->> 'kind'
      when 'user' then (select u.email from console_user u where u.id = actor ->> 'id')
      when 'admin' then (select u.email from console_user u where u.id = actor ->> 'id')
      when 'key' then (select k.label from api_key k where k.id = actor ->> 'id')
      when 'edge' then (select k.label from api_key k where k.id = actor ->> 'id') end);
    body := (note - 'organizationId'
      || jsonb_build_object('seq', last_seq, 'at', last_at, 'organization', org, 'actor', actor))::text;
    last_hash := sha256(last_hash || convert_to(body, 'UTF8'));
    insert into audit_entry (organization_id, seq, hash, text) values (org, last_seq, last_hash, body);
    update audit_head h set seq = last_seq, hash = last_hash, at_ms = last_at where h.organization_id = org;
  end loop;
end $$;
grant execute on function record_audit to flock_app;
