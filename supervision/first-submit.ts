/**
 * The first submit of signed bytes, as soon as they are durable (G25): the caller of broadcast learns at once
 * whether a node took them. What is not done in time, or fails, is the outbound tracker's, which begins two seconds
 * later (G26).
 */
import type { WithdrawalRow } from '../model/rows/withdrawal.ts';
import { chainFailure } from '../chain-watchers/follow/content.ts';
import { isUntaken, submitNewest } from '../chain-watchers/outbound/submit.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { ChainAccess } from '../model/ports/chain-access.ts';
import { isRefusal } from '../protocol/errors.ts';
import type { Logger } from 'pino';

/**
 * How long the edge's request waits for the node. Choice: below the tracker's first look, far below a request's limit.
 */
const WAIT_MS = 1_500;

/** Submits the newest version of a withdrawal; resolves when a node answered or the time is up. Never rejects. */
export function createFirstSubmit({
  access,
  accounts,
  log,
}: {
  access: Pick<ChainAccess, 'bind'>;
  accounts: Pick<Accounts, 'ask'>;
  log: Logger;
}): (row: WithdrawalRow) => Promise<void> {
  async function submit(row: WithdrawalRow): Promise<void> {
    if (!isUntaken(row)) return;
    const binding = await access.bind(row.accountId, row.chain);
    if (isRefusal(binding)) return;
    await submitNewest({ client: binding.client, accounts, place: 'first_submit' }, row);
  }
  return async (row) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS);
    });
    const submitted = submit(row).catch((error: unknown) => {
      log.warn(
        { withdrawalId: row.id, reason: chainFailure(error) ?? 'fault' },
        'a first submit failed; the tracker goes on',
      );
    });
    await Promise.race([submitted, late]);
    clearTimeout(timer);
  };
}
