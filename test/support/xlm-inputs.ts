/** Build inputs of Stellar tests, with what a test does not care about filled in. */
import type { XlmInputs } from '../../chains/xlm/inputs.ts';
import type { LedgerAccount, TrustLine } from '../../chains/xlm/ledger-account.ts';

export const lineOf = (more: Partial<TrustLine> = {}): TrustLine => ({
  balance: '0',
  limit: (2n ** 63n - 1n).toString(),
  buyingLiabilities: '0',
  sellingLiabilities: '0',
  authorized: true,
  ...more,
});

/** An account of 25 XLM with nothing beside, whose last sequence was 6. */
export const accountOf = (more: Partial<LedgerAccount> = {}): LedgerAccount => ({
  balance: '250000000',
  sellingLiabilities: '0',
  sequence: '6',
  subentries: 0,
  sponsoring: 0,
  sponsored: 0,
  authRequired: false,
  memoRequired: false,
  lines: {},
  ...more,
});

/** Seconds at which the ledger of the inputs closed. */
export const CLOSED_AT = 1_700_000_000;

/** Inputs of a payment by `from`, which pays its own fee unless `more` says otherwise. */
export function inputsOf(from: string, more: Partial<XlmInputs> = {}): XlmInputs {
  const sender = more.sender === undefined ? accountOf() : more.sender;
  return {
    readAtHeight: 50_000_000,
    closeTime: CLOSED_AT,
    baseFee: '100',
    marketFee: '100',
    baseReserve: '5000000',
    sender,
    destination: accountOf(),
    issuer: null,
    feePayer: from,
    payer: sender,
    ...more,
  };
}
