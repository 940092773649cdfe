/** Build inputs of XRP tests, with what a test does not care about filled in. */
import type { LineState, TokenState, XrpInputs } from '../../chains/xrp/inputs.ts';

export const lineOf = (more: Partial<LineState> = {}): LineState => ({
  balance: '0',
  limit: (10n ** 30n).toString(),
  frozen: false,
  deepFrozen: false,
  authorized: false,
  noRippleAtIssuer: false,
  ...more,
});

export const tokenStateOf = (more: Partial<TokenState> = {}): TokenState => ({
  issuer: { transferRate: '1000000000', requiresAuthorization: false, globallyFrozen: false },
  senderLine: lineOf({ balance: (100n * 10n ** 15n).toString() }),
  destinationLine: lineOf(),
  ...more,
});

export function inputsOf(more: Partial<XrpInputs> = {}): XrpInputs {
  return {
    readAtHeight: 90_000_000,
    baseFeeDrops: '10',
    openLedgerFeeDrops: '10',
    reserveBaseDrops: '1000000',
    reserveIncrementDrops: '200000',
    sender: { balanceDrops: '25000000', sequence: 7, ownerCount: 0, tickets: [] },
    destination: { balanceDrops: '5000000', requiresTag: false, refusesXrp: false, takesDeposits: true },
    token: null,
    ...more,
  };
}
