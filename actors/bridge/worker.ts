/**
 * Bridge transfers by the clock: each owner of accounts goes on with its own, whichever node began them. Treasury H5.
 */
import type { AccountId } from '../../protocol/ids.ts';
import type { BridgeStore, DueTransfer } from '../../model/ports/bridge-store.ts';
import type { ActorSystem } from '../kernel/index.ts';
import { advanceTransfer, type BridgeParts } from './work.ts';

const LOOK_EVERY_MS = 1_000;
/** Transfers of one page. */
const AT_ONCE = 100;
/** Transfers that are gone on with together: one with a slow chain does not hold up all others. */
const TOGETHER = 8;

export interface TransfersParts extends BridgeParts {
  readonly bridges: BridgeParts['bridges'] & Pick<BridgeStore, 'dueTransfers'>;
  /** Whether an account is this node's to look after. */
  readonly isMine: (accountId: AccountId) => boolean;
}

/** One look at what is due of this node's accounts; what fails is tried again with the next. */
export async function lookAtTransfers(parts: TransfersParts): Promise<void> {
  const atMs = parts.nowMs();
  for (let behind: DueTransfer | null = null; ;) {
    const found: DueTransfer[] = await parts.bridges.dueTransfers(atMs, behind, AT_ONCE);
    // Those of one account, one after another: they may spend of one treasury.
    const accounts = [
      ...Map.groupBy(
        found.filter(({ accountId }) => parts.isMine(accountId)),
        ({ accountId }) => accountId,
      ).values(),
    ];
    for (let at = 0; at < accounts.length; at += TOGETHER)
      await Promise.all(accounts.slice(at, at + TOGETHER).map((due) => goOn(parts, due)));
    if (found.length < AT_ONCE) return;
    behind = found.at(-1)!;
  }
}

async function goOn(parts: TransfersParts, due: readonly DueTransfer[]): Promise<void> {
  for (const { accountId, id } of due) {
    try {
      await advanceTransfer(parts, accountId, id);
    } catch (error) {
      parts.log.warn({ err: error, accountId, transferId: id }, 'a bridge transfer could not go on');
    }
  }
}

/** Starts the looks. */
export function startBridger(system: Pick<ActorSystem, 'spawnWorker'>, parts: TransfersParts): void {
  system.spawnWorker<'look'>({
    path: 'schedules/bridges',
    recover: ({ sendSelf }) => void sendSelf('look'),
    receive: async (message, { timers, sendSelf, signal }) => {
      await lookAtTransfers(parts);
      if (!signal.aborted) timers.after(LOOK_EVERY_MS, () => sendSelf(message));
    },
  });
}
