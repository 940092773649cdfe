/** The `descriptor` operation: the addresses of a Bitcoin output descriptor. */
import { addressesOf, parseDescriptor } from '../../../chains/btc/descriptor.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { HARDENED } from '../../../chains/secp256k1.ts';
import type { Request } from '../../../protocol/node/json-lines.ts';
import { integerField, refuseField, textField } from '../../../protocol/node/request-fields.ts';

/** Addresses of one branch in one answer. */
const COUNT_MAX = 10_000;

/**
 * `{valid: true, addresses}`, or `{valid: false, reason}`. Refuses: INVALID_INPUT for a range that has no addresses.
 */
export function descriptor(request: Request): object {
  const text = textField(request, 'descriptor');
  const from = integerField(request, 'from', [0, HARDENED - 1], 0);
  const count = integerField(request, 'count', [0, COUNT_MAX], 1);
  if (from + count > HARDENED) refuseField('count', 'a range below index 2147483648');
  const parsed = parseDescriptor(bitcoin, text);
  if (!parsed.ok) return { valid: false, reason: parsed.details['reason'] };
  return { valid: true, addresses: addressesOf(bitcoin, parsed, from, count) };
}
