/**
 * An account beside that of the story, on the same node: others lock it, its endpoint has a long backlog and is
 * deleted.
 */
import type { AppendOutcome } from '../../model/entity.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { NOW_MS, webhookRow } from '../support/store-rows.ts';
import type { CheckName } from './checks.ts';
import { NEIGHBOUR_ENDPOINT } from './sql-schema.ts';

/**
 * An append that shares its statement with one that cannot be written is answered within this, on a clock outside of
 * the story.
 */
const INNOCENT_MS = 2_000;

export class Neighbour {
  /** The next append of the story's account shares its statement with one of the neighbour. */
  next: 'nothing' | 'locked' | 'endpoint deleted' = 'nothing';
  readonly #database: TestDatabase;
  readonly #accountId: AccountId;
  #isDeleted = false;
  readonly #found: (check: CheckName, text: string) => void;

  constructor(database: TestDatabase, accountId: AccountId, found: (check: CheckName, text: string) => void) {
    this.#database = database;
    this.#accountId = accountId;
    this.#found = found;
  }

  /** Adds what the neighbour does to the group that an append is in. Resolves as the append. */
  async beside({ accounts, deliveries }: Stores, append: () => Promise<AppendOutcome>): Promise<AppendOutcome> {
    const what = this.next;
    if (what === 'nothing') return append();
    this.next = 'nothing';
    this.#isDeleted ||= what === 'endpoint deleted';
    const { state, version, ownerEpoch } = (await accounts.load(this.#accountId))!;
    const unlock = what === 'locked' ? await this.#lock() : async () => undefined;
    const row = webhookRow(this.#accountId, {
      id: NEIGHBOUR_ENDPOINT,
      status: this.#isDeleted ? 'deleted' : 'enabled',
      updatedAtMs: NOW_MS + 1,
    });
    const own = append();
    const theirs = accounts.append({
      entityId: this.#accountId,
      ownerEpoch,
      expectedVersion: version,
      events: [],
      state,
      rows: [{ table: 'webhook', row }],
    });
    theirs.catch(() => undefined);
    try {
      if (!(await inTime(own)))
        this.#found('innocent first', `an append waits ${INNOCENT_MS} ms and more for another account`);
    } finally {
      await unlock();
    }
    await theirs.catch((error: unknown) =>
      this.#found('innocent first', `the other account was never written: ${String(error)}`),
    );
    if (what === 'endpoint deleted') await this.#holdsAll(deliveries);
    return own;
  }

  /** As supervision does: page by page, until nothing of the endpoint waits. */
  async #holdsAll(deliveries: Stores['deliveries']): Promise<void> {
    while ((await deliveries.workBacklog()) !== null);
    const [row] = await this.#database.admin<{ left: number }[]>`
      select count(*) as left from delivery where webhook_id = ${NEIGHBOUR_ENDPOINT} and status in ('pending', 'failed')`;
    if (row!.left > 0) this.#found('convergence', `${row!.left} deliveries of a deleted endpoint still wait`);
  }

  /** Another session holds the account's row. Answers how it lets go. */
  async #lock(): Promise<() => Promise<void>> {
    const session = await this.#database.admin.reserve();
    await session`begin`;
    await session`select 1 from account where account_id = ${this.#accountId} for update`;
    return async () => {
      await session`rollback`;
      session.release();
    };
  }
}

/** Whether it settles within the time that innocents have; of real time, for it happens outside of the story. */
function inTime(work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), INNOCENT_MS);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(settled, settled);
  });
}
