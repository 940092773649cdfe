/** A build as the cloud answers with it, in the form of its schema and no larger than one can be. */
import type { Unsigned } from '../../chains/chain.ts';
import { AMOUNT_DIGITS_MAX } from '../../protocol/money.ts';
import { built, type BuiltJson, type UnsignedJson } from '../../protocol/schema/transactions.ts';

/** Of a chain whose payload does not carry whole transactions; the largest of ours is below a tenth of it. */
const PAYLOAD_CHARACTERS_MAX = 20_000;

/** Null for anything else: to read megabytes of digits takes half a minute. */
export function builtOf(data: unknown): BuiltJson | null {
  const reply = built.safeParse(data);
  if (!reply.success) return null;
  const { chain, payload, amount, feeMax } = reply.data.unsigned;
  const isPayable = amount.length <= AMOUNT_DIGITS_MAX && feeMax.length <= AMOUNT_DIGITS_MAX;
  return isPayable && (chain === 'btc' || payload.length <= PAYLOAD_CHARACTERS_MAX) ? reply.data : null;
}

export function unsignedOf(json: UnsignedJson): Unsigned {
  return { ...json, amount: BigInt(json.amount), feeMax: BigInt(json.feeMax) };
}
