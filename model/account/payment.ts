/** Payment links of an account and the payments towards them. They are rows, never part of its state. payments M2. */
import type { ClosedReason, LinkStatus, PaymentStatus } from '../../protocol/slugs.ts';
import type {
  CheckoutAddressRow,
  PaymentEntryRow,
  PaymentLinkRow,
  PaymentRow,
  PaymentTransferRow,
} from '../rows/payment.ts';

export type PaymentEvent =
  | { type: 'payment_link_created'; id: string }
  | { type: 'payment_link_changed'; id: string; status: LinkStatus; closedReason: ClosedReason | null }
  | { type: 'payment_opened'; id: string; linkId: string }
  /** A transfer made it what it is. */
  | { type: 'payment_changed'; id: string; status: PaymentStatus; depositId: string; incarnation: number };

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
  /** The link was closed: its payments without money expire. payments P11. */
  | { table: 'payments_expired'; linkId: string };
