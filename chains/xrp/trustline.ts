/** Trust lines: the permission to hold a token, given by its holder. R12, R13, R27, spec §4.2. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent } from '../chain.ts';
import { assetOf } from './currency.ts';
import type { XrpInputs } from './inputs.ts';
import { ISSUED_DECIMALS } from './network.ts';

/**
 * The limit of every line that is set here, in units of 10^-15. Choice: a billion tokens, more than a deposit address
 * ever holds of a token that the catalogue lists, and a bound on what an issuer's fault could put there.
 */
export const TRUST_LIMIT = 1_000_000_000n * 10n ** BigInt(ISSUED_DECIMALS);

/** Objects that an account may own before a line costs a reserve. Source: xrpl.org "Trust Lines and Reserves". */
const OBJECTS_WITHOUT_RESERVE = 2;

/**
 * The preconditions of a trust line. Refuses: INVALID_INPUT (no token, or its own), CHAIN_REJECTED (no account, no
 * issuer), CONFLICT (the line is there), INSUFFICIENT_GAS, INSUFFICIENT_RESERVE.
 */
export function checkTrustline(inputs: XrpInputs, { from, token }: Intent, feeDrops: bigint): Refusal | null {
  if (token === null) return refuse('INVALID_INPUT', { reason: 'a trust line is for a token', field: 'asset' });
  if (assetOf(token.contract).issuer === from) {
    return refuse('INVALID_INPUT', { reason: 'an issuer needs no line to itself' });
  }
  const { sender, token: state } = inputs;
  if (sender === null) {
    return refuse('CHAIN_REJECTED', { chain: 'xrp', reason: 'the account does not exist on the ledger' });
  }
  if (state === null || state.issuer === null) {
    return refuse('CHAIN_REJECTED', { chain: 'xrp', reason: 'the ledger has no such issuer' });
  }
  // A line that only the other side asked for has no limit of ours and holds nothing yet.
  if (state.senderLine !== null && BigInt(state.senderLine.limit) > 0n) {
    return refuse('CONFLICT', { chain: 'xrp', reason: 'the trust line exists', asset: token.contract });
  }
  const balance = BigInt(sender.balanceDrops);
  if (balance < feeDrops) {
    return refuse('INSUFFICIENT_GAS', { balance: balance.toString(), required: feeDrops.toString() });
  }
  const objects = sender.ownerCount + 1;
  const required =
    objects <= OBJECTS_WITHOUT_RESERVE
      ? 0n
      : BigInt(inputs.reserveBaseDrops) + BigInt(inputs.reserveIncrementDrops) * BigInt(objects);
  if (balance >= required) return null;
  return refuse('INSUFFICIENT_RESERVE', { chain: 'xrp', balance: balance.toString(), required: required.toString() });
}
