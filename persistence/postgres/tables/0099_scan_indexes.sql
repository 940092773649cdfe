-- Slots of scans; what forget_scans finds; limits that wait, listed by the scan.
create unique index concurrently if not exists scan_slot_once on scan (account_id, slot)
  where ended_at is null and slot is not null;
create index concurrently if not exists scan_ended_at on scan (ended_at) where ended_at is not null;
create index concurrently if not exists scan_review_pending on scan (id) where review = 'pending';
drop index concurrently if exists scan_under_review;
