create index concurrently if not exists migration_project_between on migration_project (account_id, id)
  where holds or resumes is not null;
-- resume_held, oldest first; and what comes before a first attempt of its lane while a project resumes.
create index concurrently if not exists delivery_held_for on delivery (account_id, held_for, seq)
  where held_for is not null;
create index concurrently if not exists delivery_held_lane on delivery (webhook_id, order_key, seq)
  where held_for is not null and replay = 0 and attempts = 0;
-- As delivery_done, without what waits for a project: it is not over, however old it is.
create index concurrently if not exists delivery_over on delivery (id)
  where status in ('delivered', 'dead_lettered', 'held') and held_for is null;
drop index concurrently if exists delivery_done;
