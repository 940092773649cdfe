/** How an account is asked. */
import type { AccountCommand, AccountReplies } from '../account/capabilities.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Refusal } from '../../protocol/errors.ts';

/**
 * The command's idempotency key was used before: the gateway replays the stored answer or says IDEMPOTENCY_CONFLICT.
 */
export interface DuplicateKey {
  readonly ok: 'duplicate';
}

export type Answer<C extends AccountCommand> =
  { readonly ok: true; readonly reply: AccountReplies[C['type']] } | Refusal | DuplicateKey;

/** Messages to account actors, wherever they live. */
export interface Accounts {
  ask<C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>>;
  /** Loads and applies what waits in the inbox; returns when it is durable. */
  wake(accountId: AccountId): Promise<void>;
}
