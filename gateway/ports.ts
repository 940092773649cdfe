/** What the gateway needs of the rest of a cloud node; `supervision/` wires the real ones. The gateway decides nothing. */
import type { AccountCommand, AccountReplies } from '../actors/account/messages.ts';
import type { Catalogue, ChainClient, ChainModule, Network } from '../chains/chain.ts';
import type { Acknowledgement } from '../protocol/frames.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Refusal } from '../protocol/errors.ts';
import type { Chain } from '../protocol/slugs.ts';

/** The command's idempotency key was used before: the gateway replays the stored answer or says IDEMPOTENCY_CONFLICT. */
export interface DuplicateKey { readonly ok: 'duplicate' }

export type Answer<C extends AccountCommand> =
  { readonly ok: true; readonly reply: AccountReplies[C['type']] } | Refusal | DuplicateKey;

/** Messages to account actors, wherever they live. */
export interface Accounts {
  ask<C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>>;
  /** Loads and applies what waits in the inbox; returns when it is durable. */
  wake(accountId: AccountId): Promise<void>;
}

export interface ChainBinding {
  readonly module: ChainModule;
  readonly network: Network;
  readonly client: ChainClient;
  readonly catalogue: Catalogue;
}

/** The chain as an account sees it: live endpoints, or the simulated ledger of a sandbox account. */
export interface ChainAccess {
  /** Refuses: CHAIN_UNAVAILABLE (not enabled: `details.permanent` true). */
  bind(accountId: AccountId, chain: Chain): Promise<ChainBinding | Refusal>;
  enabled(accountId: AccountId): Chain[];
}

export interface EdgeStreams {
  liveSessions(accountId: AccountId): string[];
  /** Asks the leader edge to sign and submit. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER, or what the edge refused. */
  askToSign(accountId: AccountId, transactionId: string): Promise<Acknowledgement | Refusal>;
  /** Closes every stream of an account (revoked key, rotation). */
  close(accountId: AccountId, code: string): void;
}

export interface SandboxControl {
  simulateDeposit(accountId: AccountId, ask: { chain: Chain; address: string; amount: string; tokenContract: string | null; autoConfirm: boolean; confirmAfterSeconds: number | null }): Promise<{ txid: string; outputIndex: number; height: number } | Refusal>;
  simulateConfirmation(accountId: AccountId, ask: { chain: Chain; txid: string; confirmations: number }): Promise<{ confirmations: number } | Refusal>;
  simulateReorg(accountId: AccountId, ask: { chain: Chain; depth: number }): Promise<{ depth: number } | Refusal>;
  simulateChainDown(accountId: AccountId, ask: { chain: Chain; seconds: number }): Promise<{ untilMs: number } | Refusal>;
  reset(accountId: AccountId): Promise<void>;
}

/** Seals secrets at rest with AES-256-GCM; `context` is bound as additional data so that ciphertexts cannot be swapped. */
export interface SecretBox {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
}
