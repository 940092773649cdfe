-- What forget_staged finds.
create index concurrently if not exists import_batch_staged on import_batch (dry_run_at)
  where is_staged and state in ('valid', 'invalid', 'rolled_back');
