/**
 * Payment links, payments towards them, and what came in on the addresses that were lent to them. Amounts are in the
 * smallest unit of the link's asset. `version` rises with each change of a row: a decision names the one that it was
 * made on, and the store refuses it when the row moved meanwhile. payments M2.
 */
import type { AccountId } from '../../protocol/ids.ts';
import type {
  AddressMode,
  CheckoutChain,
  ClosedReason,
  LinkMode,
  LinkStatus,
  PaymentStatus,
} from '../../protocol/slugs.ts';

export interface PaymentLinkRow {
  id: string;
  accountId: AccountId;
  version: number;
  slug: string;
  mode: LinkMode;
  addressMode: AddressMode;
  chain: CheckoutChain;
  /** Symbol of the asset. */
  asset: string;
  /** Null for the chain's native coin. */
  tokenContract: string | null;
  decimals: number;
  /** Null on a donation. */
  amount: bigint | null;
  thresholdAmount: bigint | null;
  minAmount: bigint | null;
  maxAmount: bigint | null;
  closesAtMs: number | null;
  maxUses: number | null;
  title: string | null;
  description: string | null;
  collectEmail: boolean;
  successUrl: string | null;
  /** JSON text of an object, as it was given: its keys keep their order. payments P2. */
  metadata: string;
  status: LinkStatus;
  closedReason: ClosedReason | null;
  closedAtMs: number | null;
  /** Highest head known of the link's ledger when it closed; null while none could be read. payments M6. */
  closedAtHeight: number | null;
  monitorUntilMs: number | null;
  /** Of a `shared` link; null otherwise. */
  addressId: string | null;
  address: string | null;
  derivationPath: string | null;
  /** Confirmed transfers on time; the store derives it. payments M5, M7. */
  amountRaised: bigint;
  /** Payments that are `confirmed`; the store derives it. */
  paymentCount: number;
  /** Payments that are `confirmed`, `detected` or `underpaid`; the store derives it. payments P13. */
  uses: number;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface PaymentRow {
  id: string;
  accountId: AccountId;
  linkId: string;
  version: number;
  status: PaymentStatus;
  /** What is asked: a fixed link's amount; of a donation what the donor announced, else null. */
  amount: bigint | null;
  /** The least that completes it. */
  due: bigint;
  /** What lies above is too much; null where nothing is. */
  ceiling: bigint | null;
  /** On-time transfers that are detected or confirmed. */
  seen: bigint;
  /** Those of them that are confirmed; the store derives it. payments M5. */
  confirmed: bigint;
  /** Transfers that came after the link was closed. */
  late: bigint;
  addressId: string;
  address: string;
  derivationPath: string;
  /** Its address had been lent before. payments S15. */
  addressReused: boolean;
  customerEmail: string | null;
  customerName: string | null;
  language: string | null;
  /** Who may come back to it: an HMAC, never an address of a client. payments S2. */
  payerKey: string | null;
  /** By which client it was opened: an HMAC, erased with the e-mail. payments S20, S23. */
  clientKey: string | null;
  /** Its invoice, once it was confirmed for the first time, where its link collects e-mails. payments I1. */
  invoiceId: string | null;
  /** `INV-2026-000001`, the same for ever, whatever becomes of the payment. payments I2, I7. */
  invoiceNumber: string | null;
  expiresAtMs: number;
  openedAtMs: number;
  updatedAtMs: number;
}

/** `tag` of an address that is lent; its `userRef` is null and its `label` the link's id. payments M3. */
export const CHECKOUT_TAG = 'checkout';

/** An address as it was lent: to a link, and to one payment where each payer has an address. payments M3. */
export interface CheckoutAddressRow {
  id: string;
  accountId: AccountId;
  addressId: string;
  linkId: string;
  /** Null on a `shared` link. */
  paymentId: string | null;
  reused: boolean;
  lentAtMs: number;
  /** Null while the address is lent. */
  releasedAtMs: number | null;
  /** When it first received while this holder had it; null of an address that never did. payments S16. */
  paidAtMs: number | null;
}

/**
 * counted: adds to its payment. late: the link was closed. wrong_asset, wrong_network: credited, counted nowhere.
 */
export type TransferRole = 'counted' | 'late' | 'wrong_asset' | 'wrong_network';

/** A deposit's incarnation as a link's transfer: it belongs to one payment for ever. payments M4. */
export interface PaymentTransferRow {
  depositId: string;
  incarnation: number;
  accountId: AccountId;
  linkId: string;
  /** Null only for a wrong asset or network on a `shared` link. */
  paymentId: string | null;
  role: TransferRole;
}

/** Append-only: what a transfer gave to its payment, and what a reorg took back. payments M5. */
export interface PaymentEntryRow {
  depositId: string;
  incarnation: number;
  kind: 'counted' | 'reversed';
  accountId: AccountId;
  linkId: string;
  paymentId: string;
  /** Below zero for `reversed`. */
  amount: bigint;
}

/** A transfer as an invoice names it. */
export interface InvoicedTransfer {
  readonly txid: string;
  /** In the smallest unit, as text. */
  readonly amount: string;
  readonly seenAtMs: number;
}

/** Most transfers that an invoice names, the first ones; its sum is of all. */
export const INVOICED_TRANSFERS_MAX = 100;

/** A confirmed transfer of a payment that has no invoice yet. */
export interface ConfirmedTransfer extends InvoicedTransfer {
  readonly depositId: string;
  readonly paymentId: string;
}

/** What an invoice says, as it was when it was issued. Its payment says whether it is paid. payments I3, I7. */
export interface InvoiceRow {
  id: string;
  accountId: AccountId;
  linkId: string;
  paymentId: string;
  /** Of the instant of issue in the account's time zone; never before that of an earlier one. payments I2. */
  year: number;
  /** From 1 in each year, without a gap. */
  number: number;
  issuedAtMs: number;
  timeZone: string;
  /** The payer's; null where the payer said none. */
  language: string | null;
  chain: CheckoutChain;
  asset: string;
  tokenContract: string | null;
  decimals: number;
  address: string;
  /** What was asked of a fixed link, or announced of a donation. */
  amount: bigint | null;
  /** Confirmed transfers on time. */
  paid: bigint;
  overpaid: bigint;
  short: bigint;
  /** Whom it is from, as the settings had it. */
  sellerName: string | null;
  sellerAddress: string | null;
  sellerTaxId: string | null;
  supportEmail: string | null;
  customerEmail: string;
  customerName: string | null;
  title: string | null;
  description: string | null;
  /** JSON text of `InvoicedTransfer`s, in the order in which they were seen. */
  transfers: string;
}

/** Whether a payment has an invoice once it is confirmed. payments I1. */
export const willHaveInvoice = (
  { addressMode, collectEmail }: Pick<PaymentLinkRow, 'addressMode' | 'collectEmail'>,
  { invoiceId, customerEmail }: Pick<PaymentRow, 'invoiceId' | 'customerEmail'>,
): boolean => addressMode === 'per_payer' && collectEmail && invoiceId === null && customerEmail !== null;

/** What a decision about deposits on lent addresses needs. payments M2. */
export interface CheckoutRows {
  readonly links: readonly PaymentLinkRow[];
  /** Holders of the addresses, payments of known transfers, and those of the addresses that are not complete. */
  readonly payments: readonly PaymentRow[];
  readonly lent: readonly CheckoutAddressRow[];
  readonly transfers: readonly PaymentTransferRow[];
  /**
   * Confirmed transfers of payments that will have an invoice and have none yet: at most INVOICED_TRANSFERS_MAX of
   * each, in the order in which they were seen.
   */
  readonly confirmed: readonly ConfirmedTransfer[];
  /** Highest head known, by ledger. */
  readonly heads: Readonly<Record<string, number>>;
  /** Derivation paths, by id of the address. */
  readonly paths: Readonly<Record<string, string>>;
}

/** Of deposits none of which came on a lent address. */
export const NO_CHECKOUT: CheckoutRows = {
  links: [],
  payments: [],
  lent: [],
  transfers: [],
  confirmed: [],
  heads: {},
  paths: {},
};
