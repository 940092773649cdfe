/** The cloud's answer to a build: checked by its schema, and no larger than a build can be. */
import type { Unsigned } from '../../chains/chain.ts';
import { AMOUNT_DIGITS_MAX } from '../../protocol/money.ts';
import { built, type BuiltJson, type UnsignedJson } from '../../protocol/schema/transactions.ts';

/** For chains whose payload carries no whole transactions; the largest honest one is below a tenth of this. */
const PAYLOAD_CHARACTERS_MAX = 20_000;

/** Null for anything else. Parsing megabytes of digits would take half a minute. */
export function builtOf(data: unknown): BuiltJson | null {
  const reply = built.safeParse(data);
  if (!reply.success) return null;
  return isPayable(reply.data.unsigned) ? reply.data : null;
}

/** Whether a payload is no larger than an honest one, and its amounts are no longer than amounts are. */
export function isPayable({ chain, payload, amount, feeMax }: UnsignedJson): boolean {
  const isShort = amount.length <= AMOUNT_DIGITS_MAX && feeMax.length <= AMOUNT_DIGITS_MAX;
  return isShort && (chain === 'btc' || payload.length <= PAYLOAD_CHARACTERS_MAX);
}

export function unsignedOf(json: UnsignedJson): Unsigned {
  return { ...json, amount: BigInt(json.amount), feeMax: BigInt(json.feeMax) };
}
