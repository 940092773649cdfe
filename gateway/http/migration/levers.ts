/** What a sandbox simulates of a migration. Spec §4.7; migration M-S1, M-S2. */
import type { ImportStore } from '../../../model/ports/import-store.ts';
import type { BatchState } from '../../../protocol/migration/words.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { CHAINS } from '../../../protocol/slugs.ts';
import { accountOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

type Area = 'simulateActivity' | 'simulateConflict';

/** Of a batch that is not committed yet, and that nobody is at work on. */
const OPEN: readonly BatchState[] = ['created', 'valid', 'invalid', 'conflict'];

export function leverHandlers({ sandbox, stores: { imports, uploads } }: HandlerDeps): Pick<Handlers, Area> {
  async function missing(asked: Asked<Area>): Promise<Refusal | null> {
    const { projectId } = asked.params;
    const project = await uploads.project(accountOf(asked), projectId);
    return project === null ? unknownIn(asked, 'project', projectId) : null;
  }

  return {
    async simulateActivity(asked) {
      const accountId = accountOf(asked),
        { projectId } = asked.params,
        { addresses, historicalPerAddress: historical = 0, livePerAddress: live = 0 } = asked.body;
      const no = await missing(asked);
      if (no !== null) return no;
      if (historical + live === 0)
        return refuse('INVALID_INPUT', {
          field: 'livePerAddress',
          expected: 'historicalPerAddress or livePerAddress above 0',
        });
      const batches = await imports.batchesOf(accountId, projectId);
      const committed = batches.filter(({ state }) => state === 'committed');
      if (committed.length === 0) return refuse('IMPORT_NOT_READY', { state: batches.at(-1)?.state ?? 'none' });
      const adopted = await imports.firstAdopted(accountId, projectId, addresses);
      const unknown = wanted(addresses).find((text) => !adopted.some(({ address }) => address === text));
      if (unknown !== undefined)
        return notFound('address', unknown, { field: 'addresses', environment: asked.caller.environment });
      const txids: string[] = [];
      for (const { id, heights } of committed) {
        for (const chain of CHAINS) {
          const own = adopted.filter((one) => one.batchId === id && one.chain === chain).map(({ address }) => address);
          if (own.length === 0) continue;
          const height = heights[chain] ?? 0;
          const done = await sandbox.simulateActivity(accountId, { chain, addresses: own, height, historical, live });
          if (isRefusal(done)) return done;
          txids.push(...done.txids);
        }
      }
      const count = adopted.length;
      return { addresses: count, historical: count * historical, live: count * live, txids };
    },
    async simulateConflict(asked) {
      const accountId = accountOf(asked),
        { projectId } = asked.params,
        { address = null, clear = false } = asked.body;
      const no = await missing(asked);
      if (no !== null) return no;
      const batches = (await imports.batchesOf(accountId, projectId)).filter(({ state }) => OPEN.includes(state));
      if (clear) {
        await imports.dropClaims(accountId);
        const held = batches.filter(({ state }) => state === 'conflict');
        for (const { id } of held) await imports.moveBatch(accountId, id, ['conflict'], { state: 'created' });
        return { address: null, batchId: held.at(-1)?.id ?? null };
      }
      const found = await rowOf(imports, accountId, batches.toReversed(), address);
      if (found === null)
        return address === null
          ? refuse('IMPORT_NOT_READY', { state: batches.at(-1)?.state ?? 'none', reason: 'validate the batch first' })
          : notFound('address', address, { field: 'address', environment: asked.caller.environment });
      await imports.simulateClaim(accountId, found.addressKey);
      return { address: found.address, batchId: found.batchId };
    },
  };
}

const wanted = (addresses: number | readonly string[]): readonly string[] =>
  typeof addresses === 'number' ? [] : addresses;

/** The first row of the newest batch that has one, or the row of an address. */
async function rowOf(
  imports: ImportStore,
  accountId: Parameters<ImportStore['stagedRow']>[0],
  batches: readonly { readonly id: string }[],
  address: string | null,
): Promise<{ address: string; addressKey: string; batchId: string } | null> {
  for (const { id } of batches) {
    const row = await imports.stagedRow(accountId, id, address);
    if (row !== null) return { ...row, batchId: id };
  }
  return null;
}
