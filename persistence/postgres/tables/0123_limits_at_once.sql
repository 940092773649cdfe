-- What a person or an account may have of something is counted under a lock: of twenty that come for the last place one
-- has it.

-- Who created an organization by themselves; null where an operator did, and for one of a release before. Console A26.
alter table organization add column created_by text collate "C" references console_user;
create index organization_of_creator on organization (created_by) where created_by is not null; -- limit_organizations
create trigger organization_limit after insert on organization for each row
  when (new.created_by is not null) execute function limit_organizations();

create trigger migration_project_limit after insert on migration_project for each row
  execute function limit_of_account('200', 'true');
create trigger upload_limit after insert on upload for each row
  execute function limit_of_account('4', 'r.state = ''open'' and r.deadline > clock_timestamp()');
create trigger import_batch_limit after insert on import_batch for each row
  execute function limit_of_account('2000', 'true');
create trigger sandbox_token_limit after insert on sandbox_token for each row
  execute function limit_of_account('100', 'true');
