-- Single sign-on of organizations: whose it is, what proves it, and who came by it. Console A35–A38.

-- The identity provider of an organization.
create table sso_connection (
  id              text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  issuer          text not null,
  client_id       text not null,
  sealed_secret   text, -- null for a public client
  jit_role        text not null constraint sso_connection_jit_role check (jit_role in ('viewer', 'editor')),
  created_at      timestamptz not null,
  constraint sso_connection_one_each unique (organization_id)
);
grant select, insert, update, delete on sso_connection to flock_app;

-- Domains of emails. One is verified once over all organizations.
create table sso_domain (
  id              text collate "C" primary key,
  organization_id text collate "C" not null references organization,
  domain          text not null constraint sso_domain_lower check (domain = lower(domain)),
  token           text not null, -- what its TXT record has to say
  verified_at     timestamptz,
  created_at      timestamptz not null,
  constraint sso_domain_once_each unique (organization_id, domain)
);
create unique index sso_domain_verified_once on sso_domain (domain) where verified_at is not null;
grant select, insert, update, delete on sso_domain to flock_app;

-- Who a person is at the provider: never the email.
create table sso_identity (
  connection_id text collate "C" not null references sso_connection on delete cascade,
  issuer        text collate "C" not null,
  subject       text collate "C" not null,
  user_id       text collate "C" not null references console_user,
  created_at    timestamptz not null,
  primary key (connection_id, issuer, subject)
);
create index sso_identity_of_user on sso_identity (user_id);
grant select, insert, delete on sso_identity to flock_app;

-- A sign-in under way, by its state; and an arrival that waits for the proof of the account that it is to be linked
-- with, by the browser's cookie. Each is taken once.
create table sso_flow (
  hash          text collate "C" primary key constraint sso_flow_hash check (hash ~ '^[0-9a-f]{64}$'),
  browser       text collate "C" not null,
  connection_id text collate "C" not null references sso_connection on delete cascade,
  sealed        text not null,
  expires_at    timestamptz not null
);
create index sso_flow_age on sso_flow (expires_at); -- the purge of each minute
create index sso_flow_of_connection on sso_flow (connection_id);
grant select, insert, delete on sso_flow to flock_app;
