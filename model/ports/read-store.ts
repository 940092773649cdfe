/** What the REST surface reads. Reads never go through an actor. */
import type { AttestedFamily } from '../../protocol/attestation.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { AccountState } from '../account/capabilities.ts';
import type { LentBefore } from '../account/payment.ts';
import type { AddressRow } from '../rows/address.ts';
import type { IdempotencyRow } from '../rows/idempotency.ts';
import type { UsedValue, WithdrawalRow } from '../rows/withdrawal.ts';
import type { WebhookRow } from '../rows/webhook.ts';
import type { AddressStatus, Chain, DeliveryStatus, Family, HeldReason } from '../../protocol/slugs.ts';
import type { TransactionFilter, TransactionView } from './transaction-view.ts';
import type { KeyOwner } from './identity-store.ts';
import type { InvoiceRow, PaymentLinkRow, PaymentRow, TransferRole } from '../rows/payment.ts';
import type { DepositStatus, LinkMode, LinkStatus, PaymentStatus } from '../../protocol/slugs.ts';
import type { Page, PageAsk } from '../../protocol/page.ts';

export interface DeliveryView {
  id: string;
  eventId: string;
  event: string;
  webhookId: string;
  url: string;
  replay: number;
  status: DeliveryStatus;
  /** Why it is held; null unless it is. */
  heldReason: HeldReason | null;
  /** When the event happened: a replay is a younger delivery of the same one. */
  eventAtMs: number;
  nextAttemptAtMs: number | null;
  createdAtMs: number;
  attempts: { attempt: number; statusCode: number | null; durationMs: number; error: string | null; atMs: number }[];
}

/** Who asks for an address, and on which EVM network. */
export interface PairAsk {
  readonly chain: Chain;
  readonly userRef: string;
  readonly tag: string | null;
}

/** An invoice, and what its payment is now. payments I7. */
export interface InvoiceView extends InvoiceRow {
  paymentStatus: PaymentStatus;
  invoiceNumber: string;
}

/** A transfer of a payment, as people see it. */
export interface PaymentTransferView {
  paymentId: string;
  role: TransferRole;
  txid: string;
  chain: Chain;
  amount: bigint;
  decimals: number;
  tokenSymbol: string;
  status: DepositStatus;
  confirmations: number;
  threshold: number;
}

/** What is open on a link, as far as the next opening needs it; counts go to `limit`. payments S2, S20. */
export interface Openings {
  /** The youngest payment of the payer key, with the holder of its address. */
  earlier: (LentBefore & { readonly payment: PaymentRow }) | null;
  waiting: number;
  ofEmail: number;
  ofClient: number;
}

export interface AttestedReach {
  readonly family: AttestedFamily;
  /** The lowest and the highest index from the asked one on; null where there is none. */
  readonly first: number | null;
  readonly last: number | null;
}
export interface AttestationView {
  readonly publicKey: string;
  readonly issuedAtMs: number;
  readonly validUntilMs: number;
  readonly signature: string;
}

/** The highest count of active addresses of a UTC day (`2026-08-31`). */
export interface DayPeak {
  readonly day: string;
  readonly active: number;
}

export interface ReadStore {
  idempotent(owner: KeyOwner, method: string, path: string, key: string): Promise<IdempotencyRow | null>;
  /** False when the key is taken. */
  saveIdempotent(owner: KeyOwner, row: IdempotencyRow): Promise<boolean>;
  /** Deletes a stored answer about a dead object; does nothing when another answer has replaced it. */
  forgetIdempotent(
    owner: KeyOwner,
    row: Pick<IdempotencyRow, 'method' | 'path' | 'key'>,
    deadId: string,
  ): Promise<void>;
  purgeIdempotent(olderThanMs: number): Promise<number>;
  addresses(
    accountId: AccountId,
    filter: { chain?: Chain; userRef?: string; tag?: string; status?: AddressStatus },
    page: PageAsk,
  ): Promise<Page<AddressRow>>;
  address(accountId: AccountId, id: string): Promise<AddressRow | null>;
  /** Identities that were rotated away, as of the account's last append: what an address's path depends on. */
  retiredIdentities(accountId: AccountId): Promise<Pick<AccountState, 'retired'>>;
  addressByText(accountId: AccountId, chain: Chain, address: string): Promise<AddressRow | null>;
  /**
   * Of each (userRef, tag) the index that its next address on an EVM network takes, where it is one that another
   * network has already; null for a new one. Spec §1.6.
   */
  unpairedIndexes(asked: readonly (PairAsk & { readonly accountId: AccountId })[]): Promise<(number | null)[]>;
  /** Whether a row is the only active one of its address. */
  isAlone(accountId: AccountId, row: AddressRow): Promise<boolean>;
  /** Of some addresses of a family those that the account has, as text. */
  addressesAmong(accountId: AccountId, chain: Chain, addresses: readonly string[]): Promise<string[]>;
  ownAddresses(accountId: AccountId, purpose: AddressRow['purpose']): Promise<AddressRow[]>;
  /** Pool addresses that are not issued, lowest index first. */
  unissuedPool(
    accountId: AccountId,
    chain: Chain,
    limit: number,
  ): Promise<{ index: number; address: string; path: string }[]>;
  /** Highest count of active addresses of each day of a month (`2026-08`) that has a row, in turn. Spec §8.1. */
  addressPeaks(accountId: AccountId, period: string): Promise<DayPeak[]>;
  transactions(accountId: AccountId, filter: TransactionFilter, page: PageAsk): Promise<Page<TransactionView>>;
  transaction(accountId: AccountId, id: string): Promise<TransactionView | null>;
  withdrawal(accountId: AccountId, id: string): Promise<WithdrawalRow | null>;
  /** The highest counter value that withdrawals of a sender used in blocks of a ledger; null where there is none. */
  usedValue(accountId: AccountId, ledger: LedgerId, from: string): Promise<UsedValue | null>;
  /** Newest first. */
  paymentLinks(
    accountId: AccountId,
    filter: { chain?: Chain; status?: LinkStatus; mode?: LinkMode; slug?: string },
    page: PageAsk,
  ): Promise<Page<PaymentLinkRow>>;
  paymentLink(accountId: AccountId, id: string): Promise<PaymentLinkRow | null>;
  /** Of some payments; in any order. */
  paymentLinksAmong(accountId: AccountId, ids: readonly string[]): Promise<PaymentLinkRow[]>;
  /** Whose a slug or a payment is, and its link; null for what there is none of. */
  checkout(of: { slug: string } | { paymentId: string }): Promise<PaymentLinkRow | null>;
  openings(
    link: PaymentLinkRow,
    payer: { payerKey: string; email: string | null; clientKey: string },
    limit: number,
    nowMs: number,
  ): Promise<Openings>;
  /**
   * The longest resting lent address of a chain that rests since `sinceMs` at least and never received, proven: each
   * ledger that it receives on was followed up to its head of when it began to rest, and each of `ledgers` is followed
   * near its present head, both without a hole. Of index `fromIndex` on. payments S13, S14.
   */
  restingAddress(
    accountId: AccountId,
    of: { chain: Chain; fromIndex: number; sinceMs: number; ledgers: readonly LedgerId[] },
  ): Promise<LentBefore | null>;
  /** How many lent addresses of each family rest, counted to `limit`. payments P23. */
  restingCounts(accountId: AccountId, limit: number): Promise<ReadonlyMap<Family, number>>;
  /**
   * The longest run of issued indexes without a transfer, of each family that is asked about: as it is now where
   * `isSmall` (a thousand indexes at most), else as the daily walk found it last; none of a family that it did not
   * reach yet. `bounds`: indexes at which another phrase began. payments S18.
   */
  unusedRuns(
    accountId: AccountId,
    asked: readonly { family: Family; isSmall: boolean; bounds: readonly number[] }[],
  ): Promise<ReadonlyMap<Family, { readonly run: number; readonly countedAtMs: number | null }>>;
  /** How far an identity's statements reach in each family, from index `from` on. payments E5. */
  attestedReach(
    accountId: AccountId,
    publicKey: string,
    from: Readonly<Record<AttestedFamily, number>>,
  ): Promise<AttestedReach[]>;
  /**
   * Indexes whose statement ends before `untilMs`, or that were lent without one of the identity: of what was not
   * issued yet (from `from` on), and of the newest lent addresses that payers may still be shown, from `present` on.
   * payments E5.
   */
  unattested(
    accountId: AccountId,
    of: {
      publicKey: string;
      untilMs: number;
      from: Readonly<Record<AttestedFamily, number>>;
      present: Readonly<Record<AttestedFamily, number>>;
    },
  ): Promise<{ family: AttestedFamily; index: number }[]>;
  /** The statement about an address, unless it ended. payments E4. */
  attestation(
    accountId: AccountId,
    of: { family: AttestedFamily; index: number; address: string },
    nowMs: number,
  ): Promise<AttestationView | null>;
  /** Addresses that a link had lent and that received, not archived yet. payments M11. */
  paidAddresses(accountId: AccountId, linkId: string, limit: number): Promise<AddressRow[]>;
  payment(accountId: AccountId, id: string): Promise<PaymentRow | null>;
  /** Newest first; of one link where it is named. */
  payments(
    accountId: AccountId,
    filter: { linkId?: string; statuses: readonly PaymentStatus[] },
    page: PageAsk,
  ): Promise<Page<PaymentRow>>;
  /** Newest first; of one link where it is named. */
  invoices(accountId: AccountId, filter: { linkId?: string }, page: PageAsk): Promise<Page<InvoiceView>>;
  invoice(accountId: AccountId, id: string): Promise<InvoiceView | null>;
  /** Of some payments, oldest first. */
  paymentTransfers(accountId: AccountId, paymentIds: readonly string[]): Promise<PaymentTransferView[]>;
  /** The highest height known of a ledger; null before the first. payments M6. */
  headOf(ledger: LedgerId): Promise<number | null>;
  webhooks(accountId: AccountId): Promise<WebhookRow[]>;
  /** One that was deleted only where it is asked for: its history stays. */
  webhook(accountId: AccountId, id: string, which?: { readonly deletedToo: boolean }): Promise<WebhookRow | null>;
  /** Newest first. `event` is a name; `fromMs`/`toMs` bound the creation of the delivery, `[from, to)`. */
  deliveries(
    accountId: AccountId,
    filter: {
      webhookId?: string;
      status?: DeliveryStatus;
      event?: string;
      eventId?: string;
      fromMs?: number;
      toMs?: number;
    },
    page: PageAsk,
  ): Promise<Page<DeliveryView>>;
  delivery(accountId: AccountId, id: string): Promise<DeliveryView | null>;
}
