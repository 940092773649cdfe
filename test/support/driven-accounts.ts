/** Accounts on a real store, with a clock that a test turns. */
import { createAccountEntity, type AccountReply } from '../../actors/account/account.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import { ask, createSystem, systemClock } from '../../actors/kernel/index.ts';
import { restartPolicy } from '../../actors/kernel/restart-policy.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import type { Accounts, Answer } from '../../model/ports/accounts.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { RESTARTS } from '../actors/kernel/node.ts';

export interface DrivenAccounts {
  readonly ask: Accounts['ask'];
  /** The reply. Throws where the account refuses. */
  must<C extends AccountCommand>(accountId: AccountId, command: C): Promise<Extract<Answer<C>, { ok: true }>['reply']>;
  stop(): Promise<void>;
}

export function driveAccounts(stores: Pick<Stores, 'accounts'>, nowMs: () => number): DrivenAccounts {
  const policy = restartPolicy(RESTARTS);
  const system = createSystem({
    clock: { ...systemClock, nowMs },
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: () => undefined, error: () => undefined },
    hooks: {},
  });
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([]) }),
    store: stores.accounts,
    shardOf,
  });
  const put = (async (accountId, command) => ask(entities.address(accountId), command)) as Accounts['ask'];
  return {
    ask: put,
    async must(accountId, command) {
      const answer = await put(accountId, command);
      if (answer.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(answer)}`);
      return answer.reply as never;
    },
    stop: async () => void (await system.stop(2_000)),
  };
}
