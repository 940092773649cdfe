-- What an API key may do, until when, and when it was last used. Console A32, A33. Keys of before are editors without
-- an end.
alter table api_key
  add column role text not null default 'editor' constraint api_key_role check (role in ('editor', 'viewer')),
  add column expires_at timestamptz,
  add column last_used_at timestamptz; -- right to the minute
create index api_key_live on api_key (account_id) where revoked_at is null; -- limit_keys
create trigger api_key_limit after insert on api_key for each row execute function limit_keys();
