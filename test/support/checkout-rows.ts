/** Links and payments as the store keeps them, in memory: versions checked, money derived from entries alone. */
import type { RowWrite } from '../../model/account/capabilities.ts';
import {
  willHaveInvoice,
  type CheckoutAddressRow,
  type CheckoutRows,
  type ConfirmedTransfer,
  type InvoiceRow,
  type PaymentEntryRow,
  type PaymentLinkRow,
  type PaymentRow,
  type PaymentTransferRow,
} from '../../model/rows/payment.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';

/** What a store may get wrong: each must be noticed by the model that it is compared with. */
export type Planted = 'counted_twice' | 'late_counted' | 'detected_expired' | 'reversal_lost' | 'number_reused';

export class CheckoutStore {
  readonly links = new Map<string, PaymentLinkRow>();
  readonly payments = new Map<string, PaymentRow>();
  readonly lent: CheckoutAddressRow[] = [];
  readonly transfers = new Map<string, PaymentTransferRow>();
  readonly entries = new Map<string, PaymentEntryRow>();
  readonly invoices = new Map<string, InvoiceRow>();
  readonly planted: Planted | null;

  constructor(planted: Planted | null = null) {
    this.planted = planted;
  }

  /** What a decision about deposits on these addresses reads. */
  read(addressIds: readonly string[], deposits: readonly DepositRow[], head: Record<string, number>): CheckoutRows {
    const lent = this.lent.filter(({ addressId }) => addressIds.includes(addressId)),
      ids = new Set(lent.map(({ linkId }) => linkId)),
      known = new Set(deposits.map(({ id }) => id));
    const links = [...this.links.values()].filter(({ id }) => ids.has(id));
    return {
      links: this.planted === 'late_counted' ? links.map((link) => ({ ...link, status: 'active' })) : links,
      payments: [...this.payments.values()].filter(({ linkId }) => ids.has(linkId)),
      lent,
      transfers: [...this.transfers.values()].filter(({ depositId }) => known.has(depositId)),
      confirmed: this.#confirmedOf(ids, deposits),
      heads: head,
      paths: {},
    };
  }

  /** Throws: for a row that was decided on another version, and for sums that the entries do not give. */
  write(rows: readonly RowWrite[]): void {
    for (const write of rows) {
      if (write.table === 'payment_link') this.#put(this.links, write.row);
      else if (write.table === 'payment') this.#put(this.payments, write.row);
      else if (write.table === 'checkout_address') {
        const at = this.lent.findIndex(({ id }) => id === write.row.id);
        this.lent.splice(at === -1 ? this.lent.length : at, 1, write.row);
      } else if (write.table === 'payment_transfer')
        this.#once(this.transfers, `${write.row.depositId}/${write.row.incarnation}`, write.row);
      else if (write.table === 'payment_entry') this.#enter(write.row);
      else if (write.table === 'invoice') this.#once(this.invoices, write.row.paymentId, write.row);
      else if (write.table === 'payments_expired') this.#expire(write.linkId);
    }
  }

  /** As `CheckoutRows.confirmed` says it. */
  #confirmedOf(links: ReadonlySet<string>, deposits: readonly DepositRow[]): ConfirmedTransfer[] {
    const found = deposits.filter(({ status }) => status === 'confirmed');
    return found.flatMap(({ id: depositId, incarnation, txid, amount, createdAtMs: seenAtMs }) => {
      const transfer = this.transfers.get(`${depositId}/${incarnation}`),
        payment = this.payments.get(transfer?.paymentId ?? '');
      if (transfer?.role !== 'counted' || payment === undefined || !links.has(payment.linkId)) return [];
      const due = willHaveInvoice(this.links.get(payment.linkId)!, payment);
      return due ? [{ depositId, paymentId: payment.id, txid, amount: String(amount), seenAtMs }] : [];
    });
  }

  raised(link: PaymentLinkRow): bigint {
    return this.#sum(({ linkId }) => linkId === link.id);
  }

  confirmed(payment: PaymentRow): bigint {
    return this.#sum(({ paymentId }) => paymentId === payment.id);
  }

  #sum(of: (entry: PaymentEntryRow) => boolean): bigint {
    const times = this.planted === 'counted_twice' ? 2n : 1n;
    return [...this.entries.values()].filter(of).reduce((sum, { amount }) => sum + amount * times, 0n);
  }

  #put<Row extends { id: string; version: number }>(rows: Map<string, Row>, row: Row): void {
    const before = rows.get(row.id)?.version ?? 0;
    if (row.version !== before + 1) throw new Error(`${row.id} is at ${before}, decided for ${row.version}`);
    rows.set(row.id, row);
  }

  #once<Row>(rows: Map<string, Row>, key: string, row: Row): void {
    if (rows.has(key)) throw new Error(`${key} is there`);
    rows.set(key, row);
  }

  #enter(row: PaymentEntryRow): void {
    if (this.planted === 'reversal_lost' && row.kind === 'reversed') return;
    this.#once(this.entries, `${row.depositId}/${row.incarnation}/${row.kind}`, row);
  }

  #expire(linkId: string): void {
    for (const payment of this.payments.values()) {
      const waits = payment.status === 'awaiting_payment';
      if (
        payment.linkId === linkId &&
        (waits || (this.planted === 'detected_expired' && payment.status === 'detected'))
      )
        this.payments.set(payment.id, { ...payment, status: 'expired', version: payment.version + 1 });
    }
  }
}
