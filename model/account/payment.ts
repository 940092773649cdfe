/**
 * Payment links of an account and the payments towards them. They are rows, never part of its state: a shop has
 * 100,000. What is kept with the account are its settings and two counts. payments M2, P24.
 */
import type { ClosedReason, Family, LinkStatus, PaymentStatus } from '../../protocol/slugs.ts';
import type { AddressRow } from '../rows/address.ts';
import type {
  CheckoutAddressRow,
  InvoiceRow,
  PaymentEntryRow,
  PaymentLinkRow,
  PaymentRow,
  PaymentTransferRow,
} from '../rows/payment.ts';

/** What payers see of a merchant, and by which rules it is paid. `active` is `plan.paymentsActive`. payments P24. */
export interface PaymentSettings {
  readonly displayName: string | null;
  readonly supportEmail: string | null;
  readonly supportUrl: string | null;
  /** At most ORIGINS_MAX exact origins that may embed a checkout. */
  readonly origins: readonly string[];
  readonly toleranceBps: number;
  readonly timeZone: string;
  readonly language: string;
  readonly invoice: { readonly name: string | null; readonly address: string | null; readonly taxId: string | null };
}

export interface PaymentState {
  paymentSettings: PaymentSettings;
  /** Links that are not closed, and custom slugs that were ever given: both are bounded. payments P1, P6. */
  links: { open: number; customSlugs: number };
  /** Lent addresses of a family that nothing ever came to. payments S13. */
  unpaid: Partial<Record<Family, number>>;
  /** The newest invoice: its year, and its number in it. payments I2. */
  invoices: { year: number; last: number };
}

/** A payment as a payer asks for it. */
export type NewPayment = Pick<
  PaymentRow,
  'id' | 'amount' | 'customerEmail' | 'customerName' | 'language' | 'payerKey' | 'clientKey'
>;

/** A link as it is asked for. */
export type NewLink = Omit<
  PaymentLinkRow,
  | 'accountId'
  | 'version'
  | 'status'
  | 'closedReason'
  | 'closedAtMs'
  | 'closedAtHeight'
  | 'monitorUntilMs'
  | 'addressId'
  | 'address'
  | 'derivationPath'
  | 'amountRaised'
  | 'paymentCount'
  | 'uses'
  | 'createdAtMs'
  | 'updatedAtMs'
>;

/** Fields that `PATCH` takes, as the link has them afterwards. Spec §4.6. */
export type LinkChange = Partial<
  Pick<
    PaymentLinkRow,
    | 'title'
    | 'description'
    | 'successUrl'
    | 'collectEmail'
    | 'minAmount'
    | 'maxAmount'
    | 'thresholdAmount'
    | 'closesAtMs'
    | 'maxUses'
    | 'metadata'
  >
>;

/** An address that was lent, with its last holder and that one's payment; null of a `shared` link's. */
export interface LentBefore {
  readonly address: Pick<AddressRow, 'id' | 'address' | 'derivationPath'>;
  readonly holder: CheckoutAddressRow;
  readonly payment: PaymentRow | null;
}

export type LinkAction = 'pause' | 'resume' | 'close';

/** `known` is the row as the store has it: what changed meanwhile is refused as `payment_rows_moved`. */
export type PaymentCommand =
  | { type: 'create_payment_link'; link: NewLink; customSlug: boolean; addressId: string }
  | { type: 'change_payment_link'; known: PaymentLinkRow; change: LinkChange; head: number | null }
  | { type: 'set_payment_link_status'; known: PaymentLinkRow; action: LinkAction; head: number | null }
  /**
   * `earlier`: what the payer had on the link and may have again. `resting`: an address that nobody paid, of whatever
   * link, which rested long enough. payments S13.
   */
  | {
      type: 'open_payment';
      link: PaymentLinkRow;
      payment: NewPayment;
      earlier: LentBefore | null;
      resting: LentBefore | null;
      addressId: string;
      /** Unpaid lent addresses of a family that the deployment allows; by the plan where absent. */
      unpaidMax?: number;
    }
  /** The date of a link has come. */
  | { type: 'close_due_link'; known: PaymentLinkRow; head: number | null }
  /** The address of a shared link is a retired identity's. */
  | { type: 'relend_link'; known: PaymentLinkRow; addressId: string }
  | { type: 'change_payment_settings'; active: boolean; settings: PaymentSettings };

export type PaymentEvent =
  | { type: 'payment_link_created'; id: string; custom?: true }
  | { type: 'payment_link_changed'; id: string; status: LinkStatus; closedReason: ClosedReason | null }
  /** Other fields of it. */
  | { type: 'payment_link_patched'; id: string }
  | { type: 'payment_opened'; id: string; linkId: string }
  /** A transfer made it what it is. */
  | { type: 'payment_changed'; id: string; status: PaymentStatus; depositId: string; incarnation: number }
  | { type: 'invoice_issued'; id: string; paymentId: string; year: number; number: number }
  | { type: 'payment_settings_changed'; settings: PaymentSettings };

export interface PaymentReplies {
  create_payment_link: PaymentLinkRow;
  change_payment_link: PaymentLinkRow;
  set_payment_link_status: PaymentLinkRow;
  open_payment: PaymentRow;
  close_due_link: { closed: boolean };
  relend_link: PaymentLinkRow;
  change_payment_settings: { active: boolean; settings: PaymentSettings };
}

/** Columns that the store derives: a write names what they are after it, and is refused where the sums differ. */
export type PaymentWrite =
  /**
   * `version` is the row's new one. Inserted at 1; else the stored row must have the one before, or it is refused as
   * `payment_rows_moved`.
   */
  | { table: 'payment_link'; row: PaymentLinkRow }
  | { table: 'payment'; row: PaymentRow }
  | { table: 'checkout_address'; row: CheckoutAddressRow }
  /** Its address must still have the holder that the decision saw, else it is refused as `payment_rows_moved`. */
  | { table: 'payment_transfer'; row: PaymentTransferRow }
  | { table: 'payment_entry'; row: PaymentEntryRow }
  /** Refused unless its number is the one after the last of its year. With it goes the letter to the payer. */
  | { table: 'invoice'; row: InvoiceRow }
  /** The link was closed: its payments without money expire. payments P11. */
  | { table: 'payments_expired'; linkId: string }
  /**
   * The identity was rotated: payments without money expire, no address of it is lent again, and shared links wait for
   * one of the new identity. payments S17.
   */
  | { table: 'payments_retired' };

export const PAYMENT_INITIAL: PaymentState = {
  paymentSettings: {
    displayName: null,
    supportEmail: null,
    supportUrl: null,
    origins: [],
    toleranceBps: 0,
    timeZone: 'UTC',
    language: 'en',
    invoice: { name: null, address: null, taxId: null },
  },
  links: { open: 0, customSlugs: 0 },
  unpaid: {},
  invoices: { year: 0, last: 0 },
};
