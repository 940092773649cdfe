-- Who did what: one chain of entries for each organization. Console U1–U6.

-- The newest entry of a chain, and what the log keeps. Written by record_audit and trim_audit.
create table audit_head (
  organization_id text collate "C" primary key constraint audit_head_of_organization references organization,
  seq             bigint not null default 0,
  hash            bytea  not null,
  at_ms           bigint not null default 0, -- instants of a chain never fall
  -- Days that texts are kept, null for ever, 0 before the first look; and since when the plan says less than this.
  keeps_days      int default 0,
  shorter_since   timestamptz
);
create trigger audit_head_rises before update on audit_head for each row
  when (new.seq < old.seq or new.organization_id <> old.organization_id) execute function refuse('audit_head_rises');
create trigger audit_head_kept before delete on audit_head for each row execute function refuse('audit_head_kept');

-- An entry is its text, of which every other column is made; `text` goes when its time is over, `seq` and `hash` stay.
-- hash = SHA-256(hash of the entry before ‖ text), the first one behind SHA-256(organization). Written by record_audit.
create table audit_entry (
  organization_id text   collate "C" not null,
  seq             bigint not null constraint audit_entry_seq_positive check (seq > 0),
  hash            bytea  not null constraint audit_entry_hash_bytes check (length(hash) = 32),
  text            text,
  at_ms           bigint generated always as ((text::jsonb ->> 'at')::bigint) stored,
  actor           text   collate "C" generated always as (text::jsonb -> 'actor' ->> 'id') stored,
  action          text   collate "C" generated always as (text::jsonb ->> 'action') stored,
  target          text   collate "C" generated always as (text::jsonb ->> 'target') stored,
  outcome         text   collate "C" generated always as (text::jsonb ->> 'outcome') stored,
  constraint audit_entry_of_head foreign key (organization_id) references audit_head,
  constraint audit_entry_text check (text is null or (
    (text::jsonb ->> 'seq')::bigint = seq and text::jsonb ->> 'organization' = organization_id
    and at_ms is not null and action is not null and outcome in ('done', 'refused', 'failed')))
);
create index audit_entry_of_actor on audit_entry (organization_id, actor, seq);
create index audit_entry_of_action on audit_entry (organization_id, action, seq);
create index audit_entry_of_target on audit_entry (organization_id, target, seq);
create index audit_entry_of_outcome on audit_entry (organization_id, outcome, seq);
create index audit_entry_of_time on audit_entry (organization_id, at_ms, seq);
alter table audit_entry add primary key (organization_id, seq);

create trigger audit_entry_extends_chain before insert on audit_entry for each row
  execute function audit_extends_chain();
create trigger audit_entry_append_only before update on audit_entry for each row
  when (not (old.text is not null and new.text is null
        and (new.organization_id, new.seq, new.hash) = (old.organization_id, old.seq, old.hash)
        and coalesce(current_setting('flock.audit_trim', true), '') = old.organization_id))
  execute function refuse('audit_entry_append_only');
create trigger audit_entry_kept before delete on audit_entry for each row execute function refuse('audit_entry_kept');
create trigger audit_entry_not_truncated before truncate on audit_entry for each statement
  execute function refuse('audit_entry_kept');

-- Of one tenant: `organization:org_…` in the setting.
alter table audit_head enable row level security, force row level security;
create policy tenant on audit_head for select to flock_app
  using ('organization:' || organization_id = (select current_setting('flock.account', true)));
create policy posting on audit_head to flock_owner using (true) with check (true);
grant select on audit_head to flock_app;
alter table audit_entry enable row level security, force row level security;
create policy tenant on audit_entry for select to flock_app
  using ('organization:' || organization_id = (select current_setting('flock.account', true)));
create policy posting on audit_entry to flock_owner using (true) with check (true);
grant select on audit_entry to flock_app;
