/** What a build is decided on: everything that had to be asked, JSON-safe. Amounts are decimal texts of stroops. */
import type { BuildInputs } from '../chain.ts';
import type { LedgerAccount } from './ledger-account.ts';

export interface XlmInputs extends BuildInputs {
  /** Unix seconds at which the ledger closed whose header was read. M19. */
  readonly closeTime: number;
  /** Per operation; the ledger's own least. */
  readonly baseFee: string;
  /** Per operation; what nineteen in twenty of the recent payers had to offer. M21. */
  readonly marketFee: string;
  /** Per entry. M23. */
  readonly baseReserve: string;
  /** Null: the ledger has no such account. */
  readonly sender: LedgerAccount | null;
  readonly destination: LedgerAccount | null;
  /** Of the token; null where the ledger has no such account, or the intent is native. */
  readonly issuer: LedgerAccount | null;
  /** Who pays the fee: the sender, or another address by a fee bump around its transaction. M28. */
  readonly feePayer: string;
  readonly payer: LedgerAccount | null;
}
