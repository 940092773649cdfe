/** What the clock does for wipes: letters, their beginning, and the deletion in bounded steps. Console A48, A49. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { WipeStore } from '../../model/ports/wipe-store.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { ACCOUNTS_AT_ONCE } from '../account/ask-each.ts';

/** Rows of one step: a statement of some tens of milliseconds, so that nobody waits behind it. */
export const WIPE_STEP_ROWS = 1_000;
/** Steps of one wipe before it is another one's turn. */
const STEPS_IN_TURN = 20;

export interface WipeParts {
  readonly stores: { readonly wipes: WipeStore };
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly nowMs: () => number;
  readonly stepRows?: number;
}

/** Turns of all wipes that have something to do, until none has. What was left when a node died goes on here. */
export async function wipeRound(parts: WipeParts, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  const { wipes } = parts.stores;
  await wipes.writeLetters(parts.nowMs());
  for (let more = true; more && !signal.aborted;) {
    more = false;
    for (let after = ''; !signal.aborted;) {
      const due = await wipes.due(parts.nowMs(), after, ACCOUNTS_AT_ONCE);
      for (const one of due) if (!signal.aborted && (await turn(parts, one, signal))) more = true;
      if (due.length < ACCOUNTS_AT_ONCE) break;
      after = due.at(-1)!.accountId;
    }
  }
}

/** Whether there is more to do now; a wipe that waits for withdrawals is looked at again with the next round. */
async function turn(
  { stores: { wipes }, accounts, nowMs, stepRows = WIPE_STEP_ROWS }: WipeParts,
  { accountId, status, forMs }: Awaited<ReturnType<WipeStore['due']>>[number],
  signal: AbortSignal,
): Promise<boolean> {
  if (status === 'scheduled' && nowMs() < forMs) return (await steps(wipes, accountId, stepRows, signal)) === 'more';
  if (status === 'scheduled') {
    failpoint('wipe.closing');
    return (await accounts.ask(accountId, { type: 'close_for_wipe' })).ok === true;
  }
  if (status === 'closing') {
    failpoint('wipe.running');
    return (await accounts.ask(accountId, { type: 'wipe_account' })).ok === true;
  }
  const left = await steps(wipes, accountId, stepRows, signal);
  if (left !== 'none' || signal.aborted) return left === 'more';
  failpoint('wipe.end');
  await accounts.ask(accountId, { type: 'end_wipe' });
  return false;
}

/** What is left: `busy` where somebody else is at a step, who may be a node that lost its turn and does not know. */
async function steps(
  wipes: WipeStore,
  accountId: Parameters<WipeStore['step']>[0],
  rows: number,
  signal: AbortSignal,
): Promise<'more' | 'none' | 'busy'> {
  for (let done = 0; done < STEPS_IN_TURN; done += 1) {
    if (signal.aborted) return 'more';
    failpoint('wipe.step');
    const more = await wipes.step(accountId, rows);
    if (more !== true) return more === null ? 'busy' : 'none';
  }
  return 'more';
}
