-- Members that are changed and removed. Console A27–A29.

-- An organization always has an owner: looked at when the transaction ends, under a lock of the organization, so that
-- of two owners who demote each other at once one stays.
create constraint trigger organization_has_owner after update or delete on membership
  deferrable initially deferred for each row execute function keep_owner();
grant delete on membership to flock_app;

-- Who minted a key: shown with it, and counted when they leave. Keys of before, and an operator's, have nobody.
alter table api_key add column created_by text collate "C";
