/** What tests of wipes have in common. */
import type { TestDatabase } from './postgres.ts';

/**
 * Wipes are as if they had been asked for at an instant, and their 72 hours begin then; `honestly` does without, for
 * some work: the schema dates them now.
 */
export async function askedAt(
  { admin }: Pick<TestDatabase, 'admin'>,
  atMs: number,
): Promise<{ honestly<T>(work: () => Promise<T>): Promise<T> }> {
  await admin.unsafe(`
    create function flock.asked_long_ago() returns trigger language plpgsql as $$ begin
      new.asked_at := '${new Date(atMs).toISOString()}'; new.scheduled_for := new.asked_at + interval '72 hours';
      return new; end $$;
    create trigger asked_long_ago before insert on flock.wipe
      for each row execute function flock.asked_long_ago()`);
  const set = (how: 'disable' | 'enable') => admin.unsafe(`alter table flock.wipe ${how} trigger asked_long_ago`);
  return {
    async honestly(work) {
      await set('disable');
      return work().finally(() => set('enable'));
    },
  };
}

/** The pause before a deletion (wipe_step) is over at once; `pause` and `skip` switch between the two. */
export async function withoutPause({ admin }: Pick<TestDatabase, 'admin'>): Promise<{
  pause(): Promise<unknown>;
  skip(): Promise<unknown>;
}> {
  await admin.unsafe(`
    create function flock.began_long_ago() returns trigger language plpgsql as $$ begin
      new.began_at := new.began_at - interval '31 seconds'; return new; end $$;
    create trigger began_long_ago before update on flock.wipe for each row
      when (old.began_at is null and new.began_at is not null) execute function flock.began_long_ago()`);
  const set = (how: 'disable' | 'enable') => admin.unsafe(`alter table flock.wipe ${how} trigger began_long_ago`);
  return { pause: () => set('disable'), skip: () => set('enable') };
}
