-- Changes to the token registry that one administrator proposes and another publishes as its next version. What was
-- proposed stays as it was said; what became of it, once. Treasury K8, K10.
create table registry_proposal (
  id           text collate "C" primary key,
  state        text not null default 'proposed' constraint registry_proposal_state
               check (state in ('proposed', 'published', 'withdrawn')),
  changes      jsonb not null, -- {deployments, routes}
  against      int  not null,  -- the version in force then
  version      int references registry_version,
  proposed_by  text collate "C" not null references console_user,
  published_by text collate "C" references console_user
               constraint registry_proposal_two_people check (published_by <> proposed_by),
  withdrawn_by text collate "C" references console_user,
  created_at   timestamptz not null default clock_timestamp(),
  updated_at   timestamptz not null default clock_timestamp(),
  constraint registry_proposal_published check ((state = 'published') = (version is not null)
    and (state = 'published') = (published_by is not null)),
  constraint registry_proposal_withdrawn check ((state = 'withdrawn') = (withdrawn_by is not null))
);
-- For its foreign key.
create index registry_proposal_of_version on registry_proposal (version) where version is not null;
create trigger registry_proposal_ended_once before update on registry_proposal for each row
  when (old.state <> 'proposed'
        or (new.id, new.changes, new.against, new.proposed_by, new.created_at)
           is distinct from (old.id, old.changes, old.against, old.proposed_by, old.created_at))
  execute function refuse('registry_proposal_ended_once');
grant select, insert, update on registry_proposal to flock_app;
