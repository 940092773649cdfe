-- When a stuck ledger ends by itself (simulate-stuck): at a height, and of a payment that is repriced at once.
-- Ecosystem X76.
alter table sandbox_ledger add column stuck_until bigint, add column until_repriced boolean not null default false;
