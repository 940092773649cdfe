/**
 * Why an account cannot be paid, known before anything is sent: the ledger would burn the fee and say the same (8.1,
 * 8.2).
 * Nothing is inferred from `tecPATH_DRY`: the lines on both sides are looked at.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent } from '../chain.ts';
import { assetOf } from './currency.ts';
import type { DestinationState, IssuerState, LineState, XrpInputs } from './inputs.ts';

const rejected = (reason: string): Refusal => refuse('CHAIN_REJECTED', { chain: 'xrp', reason });

/** Refuses: INSUFFICIENT_RESERVE (an account that is not there and would not be made), CHAIN_REJECTED. */
export function checkPayableInXrp(inputs: XrpInputs, amountDrops: bigint, tag: number | null): Refusal | null {
  const { destination, reserveBaseDrops } = inputs,
    reserveBase = BigInt(reserveBaseDrops);
  if (destination === null) {
    if (amountDrops >= reserveBase) return null;
    return refuse('INSUFFICIENT_RESERVE', {
      chain: 'xrp',
      reason: 'the destination does not exist and the amount does not make it',
      required: reserveBaseDrops,
    });
  }
  if (destination.refusesXrp) return rejected('the destination takes no XRP');
  // A poor account takes small payments from everybody, so that it can pay fees.
  // Source: xrpl.org "Deposit Authorization".
  const isPoor = BigInt(destination.balanceDrops) <= reserveBase && amountDrops <= reserveBase;
  return checkManners(isPoor ? { ...destination, takesDeposits: true } : destination, tag);
}

function checkManners({ requiresTag, takesDeposits }: DestinationState, tag: number | null): Refusal | null {
  if (requiresTag && tag === null) return rejected('the destination needs a tag');
  return takesDeposits ? null : rejected('the destination takes no payments from this sender');
}

/** Refuses: INVALID_ADDRESS (the issuer redeems), DESTINATION_OPT_IN_REQUIRED, CHAIN_REJECTED. R12, R27. */
export function checkPayableInToken(
  inputs: XrpInputs,
  intent: Intent,
  amount: bigint,
  tag: number | null,
): Refusal | null {
  const { token, destination } = inputs,
    { contract } = intent.token!;
  if (intent.to === assetOf(contract).issuer) {
    return refuse('INVALID_ADDRESS', { chain: 'xrp', reason: 'the issuer of the token: a payment to it redeems' });
  }
  const line = token?.destinationLine ?? null;
  if (destination === null || line === null || token === null) {
    return refuse('DESTINATION_OPT_IN_REQUIRED', { chain: 'xrp', asset: contract, destination: intent.to });
  }
  return checkManners(destination, tag) ?? checkLines(token.issuer, token.senderLine, line, amount);
}

const NO_ISSUER = 'the ledger has no such issuer';

/** Why the token can be paid to nobody from the sender's line; null where it can. K17. */
export function declines({ token }: Pick<XrpInputs, 'token'>): string | null {
  if (token === null) return null;
  return token.issuer === null ? NO_ISSUER : frozenBy(token.issuer, token.senderLine);
}

function frozenBy(issuer: IssuerState, from: LineState | null): string | null {
  if (issuer.globallyFrozen) return 'the issuer froze the token';
  return from?.frozen === true || from?.deepFrozen === true ? "the issuer froze the sender's line" : null;
}

function checkLines(issuer: IssuerState | null, from: LineState | null, to: LineState, amount: bigint): Refusal | null {
  if (issuer === null) return rejected(NO_ISSUER);
  const frozen = frozenBy(issuer, from);
  if (frozen !== null) return rejected(frozen);
  if (to.deepFrozen) return rejected("the issuer froze the destination's line");
  if (issuer.requiresAuthorization && !to.authorized) return rejected('the issuer has not authorised the destination');
  if (from?.noRippleAtIssuer === true && to.noRippleAtIssuer) {
    return rejected('the issuer lets nothing ripple between its holders');
  }
  if (BigInt(to.balance) + amount > BigInt(to.limit)) {
    return rejected("the amount is above the limit of the destination's line");
  }
  return null;
}
