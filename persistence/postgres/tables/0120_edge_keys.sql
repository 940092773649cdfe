-- Revocations of local keys that an owner asked for at the cloud: the edge revokes the key and signs that it did. The
-- cloud can ask, and neither revoke one itself nor bring one back. Console A34.
alter table local_key add column revoke_asked_at timestamptz;
create trigger local_key_asked_once before update on local_key for each row
  when (old.revoke_asked_at is not null and new.revoke_asked_at is distinct from old.revoke_asked_at)
  execute function refuse('local_key_asked_once');
