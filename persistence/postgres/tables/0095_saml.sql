-- Single sign-on by SAML: what the metadata of a provider says, the answer that waits for its browser, and assertions
-- that were spent. Console A39.
alter table sso_connection add column kind text not null default 'oidc'
  constraint sso_connection_kind check (kind in ('oidc', 'saml'));
alter table sso_connection add column saml jsonb; -- {"ssoUrl", "certificates": [base64 of DER]}
-- When the last of them ends: owners are mailed 30 days before.
alter table sso_connection add column certificate_ends_at timestamptz;
create index sso_connection_certificate on sso_connection (certificate_ends_at)
  where certificate_ends_at is not null;
alter table sso_connection add constraint sso_connection_saml check ((kind = 'saml') = (saml is not null)
  and (kind = 'saml') = (certificate_ends_at is not null));

alter table sso_flow add column response text;
create trigger sso_flow_answered_once before update on sso_flow for each row
  when (old.response is not null and new.response is distinct from old.response)
  execute function refuse('sso_flow_answered_once');
grant update on sso_flow to flock_app;

create table sso_assertion (
  connection_id text collate "C" not null references sso_connection on delete cascade,
  hash          text collate "C" not null, -- of its id
  expires_at    timestamptz not null,
  primary key (connection_id, hash)
);
create index sso_assertion_age on sso_assertion (expires_at); -- the purge of each minute
grant select, insert, delete on sso_assertion to flock_app;
