/**
 * What a chain family adds to the simulated ledger: how its blocks look to a node's reader, what a builder is given,
 * and what signed bytes do. Everything else (decoding, building, matching signatures) is the family's real code.
 */
import type { Balance, Block, BuildInputs, Intent, Network, Signed, Token, Unsigned } from '../../chains/chain.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import type { Refusal } from '../../protocol/errors.ts';
import type { Family } from '../../protocol/slugs.ts';

/** What the ledger holds for one sender, at its head. */
export interface SenderView {
  readonly height: number;
  readonly hash: string;
  /** The ledger's clock, for payloads that expire. */
  readonly timeMs: number;
  readonly nonce: number;
  readonly nativeBalance: bigint;
  /** Of the token that is moved; null for the native coin. */
  readonly tokenBalance: bigint | null;
  /**
   * What the sender received and sent, oldest first; where the ledger consists of outputs, or holders opt in to assets.
   */
  readonly history?: readonly { readonly height: number; readonly transaction: SandboxTransaction }[];
  /** What the sender has in the ledger's pool, where a build asks: neither in `history` nor in the counters. */
  readonly pooled?: readonly SandboxTransaction[];
  /**
   * Native balance of the payee, where the intent or the payload names one: 0 is an account that is not there.
   */
  readonly destinationBalance?: bigint;
  /** What the payee of a token received and sent, where holders opt in to assets. */
  readonly payeeHistory?: SenderView['history'];
  /** Native balance of who pays the fee, where that is not the sender. */
  readonly payerBalance?: bigint;
}

/**
 * Whether a payee takes a token. An address of the account, which the ledger itself has paid, has the lines that it
 * opened and those that a deposit came on; nobody outside can be asked to open one, so that all others have it.
 */
export function takesToken(
  { payeeHistory = [] }: Pick<SenderView, 'payeeHistory'>,
  to: string,
  asset: string,
): boolean {
  const received = payeeHistory.flatMap(({ transaction: { from, success, transfers } }) =>
    success ? transfers.filter((transfer) => transfer.to === to).map((transfer) => ({ ...transfer, from })) : [],
  );
  const isOwn = received.some(({ from, tokenContract }) => from === null && tokenContract === null);
  return (
    !isOwn ||
    openedBy({ history: payeeHistory }).has(asset) ||
    received.some(({ tokenContract }) => tokenContract === asset)
  );
}

/** Assets that a sender has opted in to. */
export function openedBy({ history = [] }: Pick<SenderView, 'history'>): ReadonlySet<string> {
  return new Set(
    history.flatMap(({ transaction: { success, opens } }) => (success && opens !== undefined ? [opens] : [])),
  );
}

/** A payload that the ledger can read, before its sender's holdings are known. */
export interface ReadPayload {
  readonly from: string;
  readonly nonce: number | null;
  /** Contract of the token that is moved; null for the native coin. */
  readonly tokenContract: string | null;
  /** The payee, where the chain has accounts that a payment makes. */
  readonly to?: string;
  /** Who pays the fee, where it is not the sender. */
  readonly feePayer?: string;
  /** The outputs that are spent, `txid:vout`, where the ledger consists of outputs. */
  readonly spends?: readonly string[];
  /**
   * What the payload does to the ledger. Refuses: what a node would refuse for good. `unknown` where it cannot know
   * yet.
   */
  run(view: SenderView): SandboxTransaction | Refusal | { readonly unknown: string };
}

export interface DepositAsk {
  readonly to: string;
  readonly amount: bigint;
  readonly token: Token | null;
  readonly seed: Uint8Array;
  readonly balance: bigint;
}

/** A version of a payment in the pool. */
export interface Bid {
  readonly payload: string;
  readonly transaction: SandboxTransaction;
}

export interface SimulatedFamily {
  readonly family: Family;
  /** Canonical text of a block hash or txid (G3) from 32 bytes. */
  hashText(bytes: Uint8Array): string;
  /**
   * A payment from outside, as the transaction that a block holds; `balance` is the receiver's native one before it.
   * Refuses: what the chain would not make (an account below its minimum).
   */
  deposit(network: Network, ask: DepositAsk): SandboxTransaction | Refusal;
  /** A node's answers for a block. */
  render(network: Network, block: SandboxBlock): Block;
  /** `opened`: assets that the holder has opted in to, where the ledger keeps lines; each costs a reserve. */
  balanceOf(network: Network, amount: bigint, token: Token | null, opened?: ReadonlySet<string>): Balance;
  buildInputs(network: Network, intent: Intent, view: SenderView): BuildInputs;
  /** Decodes signed bytes and verifies their signature, network and txid. Refuses: CHAIN_REJECTED. */
  read(network: Network, signed: Signed): ReadPayload | Refusal;
  /** The ledger consists of outputs: a sender's view has its history. */
  readonly keepsOutputs?: true;
  /** Holders opt in to assets: a sender's view has its history. */
  readonly keepsLines?: true;
  /** An account exists once it was paid the native coin, whatever tokens it holds. */
  readonly isMadeByNative?: true;
  /**
   * What a node says to a version that pays too little to take the place of others in its pool; null where it pays
   * enough. Only where versions exclude each other.
   */
  displaces?(newer: Bid, older: readonly Bid[]): Refusal | { readonly unknown: string } | null;
  /**
   * A transaction of the same sender that excludes this one and moves nothing but its fee, as if the sender's key were
   * used elsewhere; its txid is made of 32 bytes. Only where transactions exclude each other.
   */
  rivalOf?(network: Network, one: SandboxTransaction, seed: Uint8Array): SandboxTransaction;
  /** Why a payload can never be in a block, given what its sender holds; null while it still can (G27). */
  deathOf?(unsigned: Unsigned, view: SenderView): string | null;
  /** The last height at which a payload can be in a block, where it says one: above it it is dead (G27). */
  lastHeightOf?(unsigned: Unsigned): number | null;
}
