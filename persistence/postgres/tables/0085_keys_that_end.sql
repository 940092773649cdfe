-- API keys by their end, for the letters before it. Console A32.
create index api_key_end on api_key (expires_at) where revoked_at is null and expires_at is not null;
