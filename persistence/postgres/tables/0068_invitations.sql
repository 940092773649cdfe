-- Invitations to organizations, each bound to an email. Console A26, A30, A31.
create table invitation (
  id              text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  email           text not null constraint invitation_email_lower check (email = lower(email)),
  role            text not null constraint invitation_role check (role in ('owner', 'editor', 'viewer')),
  hash            text collate "C" not null constraint invitation_hash check (hash ~ '^[0-9a-f]{64}$'), -- of its link
  invited_by      text collate "C" not null references console_user,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  ended_at        timestamptz,
  why             text constraint invitation_why check (why in ('accepted', 'revoked', 'replaced')),
  constraint invitation_link_once unique (hash),
  constraint invitation_ended check ((ended_at is null) = (why is null))
);
-- Inviting again takes the place of what was open.
create unique index invitation_open on invitation (organization_id, email) where ended_at is null;
create index invitation_of_organization on invitation (organization_id, created_at);
create index invitation_of_inviter on invitation (invited_by, organization_id) where ended_at is null;
create index invitation_age on invitation (expires_at); -- the daily purge
create trigger invitation_ended_once before update on invitation for each row
  when (old.ended_at is not null and new is distinct from old) execute function refuse('invitation_ended_once');
create trigger invitation_limit after insert on invitation for each row execute function limit_people();
create trigger membership_limit after insert on membership for each row execute function limit_people();
-- Who is no owner any more invites nobody.
create trigger membership_ends_invitations after update or delete on membership for each row
  when (old.role = 'owner') execute function end_invitations();
grant select, insert, update, delete on invitation to flock_app;
