/**
 * A watcher's history (test/support/history.ts) over the real functions, in a database of its own on the PostgreSQL of
 * the test run.
 */
import { createWatchStore } from '../../persistence/postgres/watch-store.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import { runHistory, type HistoryOptions } from '../support/history.ts';
import { modelJudge } from '../support/judge.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { addressRow, newOrganization, openStores, write } from '../support/store-rows.ts';

const ADDRESSES = 4;
const INTRUSIONS = 0.3;

export interface SqlHistoryOptions extends Omit<HistoryOptions, 'books' | 'judge'> {
  /** Faulty functions in the place of the real ones. */
  readonly planted?: string;
  /**
   * Somebody with the application's role says of facts that they are deep enough, and names forks that nobody recorded.
   */
  readonly intruder?: boolean;
}

export async function runSqlHistory({
  planted = '',
  intruder = false,
  ...options
}: SqlHistoryOptions): Promise<string[]> {
  const database = await createTestDatabase();
  try {
    if (planted !== '') await database.admin.unsafe(`set role flock_owner; ${planted}; reset role;`);
    const stores = await openStores(database),
      { live } = await newOrganization(stores);
    const rows = Array.from({ length: ADDRESSES }, () => addressRow(live));
    await write(
      stores,
      live,
      rows.map((row) => ({ table: 'address', row })),
    );
    const watched = rows.map(({ addressKey, id, address, purpose }) => ({
      addressKey,
      addressId: id,
      accountId: live,
      address,
      purpose,
    }));
    const store = createWatchStore(database.sql);
    return await runHistory({
      ...options,
      judge: () => modelJudge(live, watched),
      books: {
        store,
        inbox: async () => (await stores.inbox.inboxOf(live, 1_000)).inbox,
        takeInbox: async (ids) => {
          await database.owner`delete from inbox where account_id = ${live} and id::text = any (${[...ids]}::text[])`;
        },
        ...(intruder
          ? { intrude: (random: () => number) => (random() < INTRUSIONS ? intrude(store) : Promise.resolve()) }
          : {}),
      },
    });
  } finally {
    await database.close();
  }
}

function refusedForItsFork(error: unknown): void {
  if ((error as { constraint_name?: unknown }).constraint_name !== 'fork_was_recorded') throw error;
}

/** F60: what a watcher would never say. The functions check what their caller claims. */
async function intrude(store: WatchStore): Promise<void> {
  const young = (await store.immature('eth', Number.MAX_SAFE_INTEGER, 100)).map(({ txid, outputIndex, blockHash }) => ({
    txid,
    outputIndex,
    blockHash,
    confirmations: 1,
  }));
  await store.mature('eth', young);
  const cursor = await store.cursor('eth');
  if (cursor === null || cursor.height === 0) return; // below its first block a ledger may begin anew
  await store
    .recordReorg('eth', { height: cursor.height - 1, hash: 'never recorded' }, cursor, [])
    .catch(refusedForItsFork);
}
