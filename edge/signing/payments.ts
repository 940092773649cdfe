/**
 * What makes two instructions one payment, and when a signed one no longer blocks another. The cloud has the signed
 * bytes and may report anything about them, so that its word never permits a second payment: found F3, G27.
 *
 *   signed ── the application read `confirmed` in the answer to its own GET, never the contrary ─▶ paid
 *          ── by this edge's clock its time is over ───────────────────────────────────────────────▶ dead
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
 * What this edge reports of a signed transaction to an application. `reverted`: it is in a block and did nothing, so
 * that its counter is used up. `landed`, the word of the company's own node: it was paid, and its counter is used up.
 */
export type Word = 'confirmed' | 'failed' | 'reverted' | 'landed';
/** Why it no longer blocks an equal payment. */
export type Settled = 'dead' | 'landed' | 'by_operator' | 'forgotten';

/** Added to the time in the bytes, since the clocks of edge and chain may differ. Milliseconds. */
export const DEAD_MARGIN_MS = 600_000;

/** SHA-256 of an instruction with its id: the subject of a spend. The id alone is chosen by the cloud. */
export function subjectOf(instruction: Instruction): string {
  return sha256(instructionText(instruction));
}

/**
 * SHA-256 of (chain, from, to, tag, asset, amount, paymentRef): equal for two instructions that are one payment. Null
 * for what pays nobody, and for what the edge's own settings permit.
 */
export function paymentOf({ purpose, chain, from, to, tag, token, amount, paymentRef }: Instruction): string | null {
  if (purpose !== 'withdrawal') return null;
  return sha256(JSON.stringify([chain, from, to, tag, token?.contract ?? null, amount.toString(), paymentRef ?? null]));
}

/** The nonce or sequence that a payload uses up; null where the chain has none. */
export function counterOf({ replayKey }: Unsigned): bigint | null {
  return replayKey.kind === 'nonce' || replayKey.kind === 'sequence' ? BigInt(replayKey.value) : null;
}

/**
 * Keys of which two signatures for one instruction must share at least one, so that at most one of their payloads can
 * land: counter or outpoints, with chain and sender. A payload that only expires excludes no other, so there the key is
 * the payload itself.
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
 * What the spend ledgers need to know of a payload beside its amount. `deadAtMs`: instant of the wall clock after which
 * it cannot land.
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

/** An equal payment was signed and may still land. */
export function equalPayment(earlier: readonly string[]): Refusal {
  return refuse(
    'CONFLICT',
    { reason: 'equal_payment_signed', field: 'paymentRef', earlier },
    'an equal payment was signed before and may still land: look for its txid on the ' +
      'chain before you pay again. Where you mean to pay twice, build it with another paymentRef',
  );
}

/**
 * A lower counter was signed, is called failed, and was not used again: what was signed under it may still land as soon
 * as this one does.
 */
export function counterNotFilled(earlier: readonly string[]): Refusal {
  return refuse(
    'CONFLICT',
    { reason: 'counter_not_filled', earlier },
    'a transaction that is called failed may still land under a lower counter: its counter is used again ' +
      'first. Where something else used it up, name your own node (EDGE_VERIFY_RPC_<CHAIN>), or settle it by hand: flock-edge payments settle ID',
  );
}

/** Ids of the transactions that block a spend; none for any other refusal. */
export function earlierIn({ details }: Refusal): readonly string[] {
  return Array.isArray(details['earlier']) ? (details['earlier'] as readonly string[]) : [];
}
