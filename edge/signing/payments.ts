/**
 * What makes two instructions one payment, and when a signed one is out of the way. The cloud keeps the signed bytes
 * and may say of them what it likes, so that its word never frees a second payment: F3 of what attack found, G27.
 *
 *   signed ── the application heard `confirmed` in the answer to its own GET, never the contrary ▶ paid
 *          ── this edge's clock is past the time at which it dies ─────────────────────────────────▶ dead
 *          ── the company's own node proves it (EDGE_VERIFY_RPC_<CHAIN>) ──────────────────────────▶ dead
 *          ── an operator looked at the chain (`flock-edge payments settle`) ──────────────────────▶ settled
 *
 * Until then an instruction that is the same payment is signed only under a replay key that every version of the
 * earlier one has, so that at most one of them lands; and a counter whose transaction is called failed is used again
 * before a higher one.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { sha256 } from './instruction-record.ts';
import { replayKeyTexts } from './replay-keys.ts';
import { instructionText, type RecordedInstruction } from './stored-text.ts';
import type { Instruction } from './signers/signer.ts';
import type { Unsigned } from '../../chains/chain.ts';

/**
 * What an application is told of a signed transaction by way of this edge. `reverted`: that it is in a block and did
 * nothing, so that its counter is used up. `landed` is the company's own node's: it was paid, and its counter is used
 * up.
 */
export type Word = 'confirmed' | 'failed' | 'reverted' | 'landed';
/** How it is known that it is out of the way. */
export type Settled = 'dead' | 'landed' | 'by_operator' | 'forgotten';

/** After the time in the bytes: clocks of edge and chain may differ by so much. */
export const DEAD_MARGIN_MS = 600_000;

/** SHA-256 of an instruction, with its id: what the spend ledgers count for. An id alone is the cloud's to choose. */
export function subjectOf(instruction: Instruction): string {
  return sha256(instructionText(instruction));
}

/**
 * SHA-256 of (chain, from, to, tag, asset, amount, paymentRef): equal for two instructions that are one payment. Null
 * for what pays nobody, and for what the edge's own settings start.
 */
export function paymentOf({ purpose, chain, from, to, tag, token, amount, paymentRef }: Instruction): string | null {
  if (purpose !== 'withdrawal') return null;
  return sha256(JSON.stringify([chain, from, to, tag, token?.contract ?? null, amount.toString(), paymentRef ?? null]));
}

/** The counter that a payload uses up; null where the chain has none. */
export function counterOf({ replayKey }: Unsigned): bigint | null {
  return replayKey.kind === 'nonce' || replayKey.kind === 'sequence' ? BigInt(replayKey.value) : null;
}

/**
 * What two signatures for one instruction must share a part of, so that at most one of their payloads can land: counter
 * or outpoints, with chain and sender. A payload that only expires excludes no other one, so there it is the payload
 * itself.
 */
export function exclusiveKeys({
  chain,
  from,
  replayKey,
  payload,
}: Pick<Unsigned, 'chain' | 'from' | 'replayKey' | 'payload'>): string[] {
  const keys = replayKey.kind === 'expiry' ? [`payload:${sha256(payload)}`] : replayKeyTexts(replayKey);
  return keys.map((key) => `${chain}|${from}|${key}`);
}

/**
 * What the ledgers need to know of a payload beside its amount. `deadAtMs`: wall-clock instant after which it cannot
 * land.
 */
export function claimOf({ instruction, unsigned }: RecordedInstruction, deadAtMs: number | null, wallMs: number) {
  return {
    subject: subjectOf(instruction),
    transactionId: instruction.id,
    chain: instruction.chain,
    sender: instruction.from,
    payment: paymentOf(instruction),
    exclusive: exclusiveKeys(unsigned),
    version: sha256(unsigned.payload),
    counter: counterOf(unsigned),
    deadAtMs: deadAtMs === null ? null : deadAtMs + DEAD_MARGIN_MS,
    wallMs,
  };
}

/** Another payment like it was signed, and may still land. */
export function equalPayment(earlier: readonly string[]): Refusal {
  return refuse(
    'CONFLICT',
    { reason: 'equal_payment_signed', field: 'paymentRef', earlier },
    'an equal payment was signed before and may still land: look for its txid on the ' +
      'chain before you pay again. Where you mean to pay twice, build it with another paymentRef',
  );
}

/**
 * A counter below was signed, is called failed, and is not used again: what was signed under it may land as soon as
 * this one does.
 */
export function counterNotFilled(earlier: readonly string[]): Refusal {
  return refuse(
    'CONFLICT',
    { reason: 'counter_not_filled', earlier },
    'a transaction that is called failed may still land under a lower counter: its counter is used again ' +
      'first. Where something else used it up, name your own node (EDGE_VERIFY_RPC_<CHAIN>), or settle it by hand: flock-edge payments settle ID',
  );
}

/** Ids of the transactions that stand in the way of a spend; none for any other refusal. */
export function earlierIn({ details }: Refusal): readonly string[] {
  return Array.isArray(details['earlier']) ? (details['earlier'] as readonly string[]) : [];
}
