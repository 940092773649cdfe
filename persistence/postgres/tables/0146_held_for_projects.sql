-- A project that was active and is in observe again holds what was announced of its addresses. From the moment in which
-- it is active again it resumes, page by page (claim_in_order, resume_held; migration M-O6).
alter table migration_project add column holds boolean not null default false, add column resumes timestamptz;
-- The project that a held delivery waits for.
alter table delivery add column held_for text collate "C",
  add constraint delivery_held_for check (held_for is null or status = 'held') not valid;
