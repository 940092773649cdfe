-- Verified domains are looked at again each week. Console A36.
alter table sso_domain add column checked_at timestamptz not null default now();
alter table sso_domain add column missed int not null default 0; -- weeks in a row without the record
alter table sso_domain add column lapsed_at timestamptz; -- verified once, and its record is gone
alter table sso_domain add constraint sso_domain_lapsed check (verified_at is null or lapsed_at is null);
create index sso_domain_due on sso_domain (checked_at) where verified_at is not null;
