/**
 * What deposits on lent addresses mean for payments: decided after the deposit, in the same decision. payments part 2.
 *
 *   transfer                 appears             confirmed                       reversed
 *   counted, on time         payment_detected    payment_confirmed when it completes its payment;
 *                            seen +              payment_underpaid while seen < due; nothing while the
 *                                                rest is seen; payment_unmatched `surplus` when it was
 *                                                complete already.  confirmed +, entry counted
 *                                                                                payment_reversed; seen -,
 *                                                                                confirmed -, entry reversed
 *   late                     payment_detected    payment_late                    payment_reversed; late -
 *                            late +
 *   wrong asset or network                       payment_unmatched               payment_reversed, if it was
 *                                                                                announced as unmatched
 *
 * The same movement that comes back keeps its payment and its role, and is not detected again (M6, V4); another
 * movement under its key is a transfer of its own (M10). An archived address is silent (V8); what it receives counts
 * all the same.
 */
import type { AccountEvent, RowWrite } from '../../model/account/capabilities.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import {
  willHaveInvoice,
  type CheckoutAddressRow,
  type CheckoutRows,
  type ConfirmedTransfer,
  type PaymentLinkRow,
  type PaymentRow,
  type PaymentTransferRow,
  type TransferRole,
} from '../../model/rows/payment.ts';
import { FAMILY_OF, type EventName } from '../../protocol/slugs.ts';
import type { DayTurn } from '../address/peak.ts';
import { NO_PURPOSE, type DepositChange, type DepositListener, type DepositPurpose } from '../deposit/listener.ts';
import { linkClosed, transferEvent, type TransferCore, type TransferEvent } from './announce.ts';
import { closed, closedByMoney, isLate } from './closing.ts';
import { invoiceNumberOf, invoiceOf, type InvoiceSees } from './invoices.ts';
import { isUse, statusOf, termsOf } from './sums.ts';
import type { PaymentTerms } from './terms.ts';

const transferKey = (depositId: string, incarnation: number): string => `${depositId}/${incarnation}`;

/** Ids of what a fact opens and issues, from the id that the fact has for a new deposit: each is used once. */
const paymentIdOf = (depositId: string): string => depositId.replace(/^dep_/, 'pay_');
const invoiceIdOf = (depositId: string): string => depositId.replace(/^dep_/, 'inv_');

export class PaymentBook implements DepositListener {
  readonly announced: EventName[] = [];
  readonly #core: TransferCore & InvoiceSees;
  readonly #terms: PaymentTerms;
  readonly #nowMs: number;
  readonly #events: AccountEvent[];
  readonly #heads: CheckoutRows['heads'];
  readonly #paths: CheckoutRows['paths'];
  readonly #links: Map<string, PaymentLinkRow>;
  readonly #payments: Map<string, PaymentRow>;
  #lent: readonly CheckoutAddressRow[];
  readonly #transfers: Map<string, PaymentTransferRow>;
  /** By payment: what an invoice names. */
  readonly #confirmed: Map<string, readonly ConfirmedTransfer[]>;
  /** The newest number, as this decision goes on. */
  #invoices: InvoiceSees['invoices'];
  readonly #moved = new Set<string>();
  readonly #closed: string[] = [];
  readonly #added: RowWrite[] = [];
  /** What comes before the first change of the day's count of addresses. */
  readonly #turn: DayTurn;
  #counts = false;

  /** Events go to `events`, in the order of the facts. */
  constructor(
    core: TransferCore & InvoiceSees,
    turn: DayTurn,
    read: CheckoutRows,
    terms: PaymentTerms,
    nowMs: number,
    events: AccountEvent[],
  ) {
    this.#core = core;
    this.#turn = turn;
    this.#terms = terms;
    this.#nowMs = nowMs;
    this.#events = events;
    this.#heads = read.heads;
    this.#paths = read.paths;
    this.#links = new Map(read.links.map((row) => [row.id, row]));
    this.#payments = new Map(read.payments.map((row) => [row.id, row]));
    this.#lent = read.lent.toSorted((a, b) => a.lentAtMs - b.lentAtMs || (a.id < b.id ? -1 : 1));
    this.#transfers = new Map(read.transfers.map((row) => [transferKey(row.depositId, row.incarnation), row]));
    this.#confirmed = Map.groupBy(read.confirmed, ({ paymentId }) => paymentId);
    this.#invoices = core.invoices;
  }

  /** Rows to write: links and payments in their new state, transfers and entries, then what a closing expires. */
  get rows(): RowWrite[] {
    const links = [...this.#links.values()].filter(({ id }) => this.#moved.has(id)),
      payments = [...this.#payments.values()].filter(({ id }) => this.#moved.has(id));
    return [
      ...links.map((row): RowWrite => ({ table: 'payment_link', row: { ...row, version: row.version + 1 } })),
      ...payments.map((row): RowWrite => ({ table: 'payment', row: { ...row, version: row.version + 1 } })),
      ...this.#added,
      ...this.#closed.map((linkId): RowWrite => ({ table: 'payments_expired', linkId })),
    ];
  }

  appears({ deposit, before }: DepositChange, newId: string): void {
    const transfer = this.#attributed(deposit, before === 'reversed', newId);
    if (transfer === null) return;
    this.#count(deposit);
    this.#transfers.set(transferKey(deposit.id, deposit.incarnation), transfer);
    this.#added.push({ table: 'payment_transfer', row: transfer });
  }

  purposeOf({ id, incarnation }: DepositRow): DepositPurpose {
    const transfer = this.#transfers.get(transferKey(id, incarnation));
    return transfer === undefined ? NO_PURPOSE : { paymentId: transfer.paymentId, linkId: transfer.linkId };
  }

  changed(change: DepositChange, newId: string): readonly RowWrite[] {
    const { deposit } = change;
    const transfer = this.#transfers.get(transferKey(deposit.id, deposit.incarnation));
    if (transfer === undefined) return [];
    const link = this.#links.get(transfer.linkId)!;
    const event = transfer.role.startsWith('wrong')
      ? strayed(transfer, change)
      : this.#counted(transfer, change, newId);
    const said = event === null ? [] : [this.#say(event, transfer, change)];
    // M8: what a reorg takes back closes nothing.
    const reason = deposit.status === 'confirmed' ? closedByMoney(this.#links.get(link.id)!) : null;
    if (reason === null) return said.flat();
    return [...said.flat(), this.#close(link.id, deposit)];
  }

  /** M4, M6, M10, S9, S11, S15. Null for an address that was never lent. */
  #attributed(deposit: DepositRow, again: boolean, newId: string): PaymentTransferRow | null {
    const { id: depositId, incarnation, accountId } = deposit;
    const earlier = again ? this.#transfers.get(transferKey(depositId, incarnation - 1)) : undefined;
    if (earlier !== undefined) return { ...earlier, incarnation };
    const holder = this.#holderOf(deposit.addressId);
    if (holder === null) return null;
    const link = this.#linkWithHead(holder.linkId, deposit);
    const role = roleOf(deposit, link);
    const payment = role.startsWith('wrong') ? null : this.#paymentFor(role, holder, link, deposit, newId);
    return {
      depositId,
      incarnation,
      accountId,
      linkId: link.id,
      paymentId: payment?.id ?? holder.paymentId,
      role,
    };
  }

  /** From its first transfer on a lent address takes a place of the plan, whatever is on it. S16. */
  #count(deposit: DepositRow): void {
    const { addressId } = deposit,
      holder = this.#holderOf(addressId);
    if (holder === null || holder.paidAtMs !== null) return;
    const paid = { ...holder, paidAtMs: this.#nowMs };
    this.#lent = this.#lent.map((one) => (one === holder ? paid : one));
    if (!this.#counts) this.#added.push(...this.#turn.rows);
    this.#events.push(...(this.#counts ? [] : this.#turn.events), {
      type: 'address_counted',
      id: addressId,
      family: FAMILY_OF[deposit.chain],
    });
    this.#counts = true;
    this.#added.push({ table: 'checkout_address', row: paid });
  }

  /** Who has the address, or had it last: a payment that expired keeps it until it is lent on. S12, S15. */
  #holderOf(addressId: string): CheckoutAddressRow | null {
    return this.#lent.findLast((lent) => lent.addressId === addressId) ?? null;
  }

  /**
   * A link that closed while no head could be read takes the first one that was read afterwards: of its own ledger,
   * since the heights of another network say nothing of it. M6.
   */
  #linkWithHead(linkId: string, { chain, ledger, height }: DepositRow): PaymentLinkRow {
    const link = this.#links.get(linkId)!;
    if (link.status !== 'closed' || link.closedAtHeight !== null || chain !== link.chain) return link;
    return this.#put({ ...link, closedAtHeight: this.#heads[ledger] ?? height });
  }

  /**
   * S8: on a fixed link all transfers are its holder's. S9: a donation takes transfers until it is complete, then a
   * further payment is opened on the same address. S4: on a shared link each transfer is a payment.
   */
  #paymentFor(
    role: TransferRole,
    holder: CheckoutAddressRow,
    link: PaymentLinkRow,
    deposit: DepositRow,
    newId: string,
  ): PaymentRow {
    const first = holder.paymentId === null ? null : this.#payments.get(holder.paymentId)!;
    if (first !== null && link.mode === 'fixed') return first;
    const takesMore = ({ seen, late, due }: PaymentRow): boolean => (role === 'late' ? seen + late : seen) < due;
    const open =
      first === null
        ? undefined
        : [...this.#payments.values()]
            .filter((one) => one.linkId === link.id && one.addressId === deposit.addressId && takesMore(one))
            .toSorted((a, b) => a.openedAtMs - b.openedAtMs || (a.id < b.id ? -1 : 1))[0];
    return open ?? this.#further(first, holder, link, deposit, newId);
  }

  #further(
    first: PaymentRow | null,
    holder: CheckoutAddressRow,
    link: PaymentLinkRow,
    deposit: DepositRow,
    newId: string,
  ): PaymentRow {
    const id = paymentIdOf(newId);
    this.#events.push({ type: 'payment_opened', id, linkId: link.id });
    return this.#putPayment({
      id,
      accountId: this.#core.accountId,
      linkId: link.id,
      version: 0,
      status: 'awaiting_payment',
      ...termsOf(link, 0),
      seen: 0n,
      confirmed: 0n,
      late: 0n,
      addressId: holder.addressId,
      address: deposit.address,
      derivationPath: this.#paths[holder.addressId] ?? first?.derivationPath ?? link.derivationPath!,
      addressReused: holder.reused,
      customerEmail: first?.customerEmail ?? null,
      customerName: first?.customerName ?? null,
      language: first?.language ?? null,
      payerKey: null,
      clientKey: null,
      invoiceId: null,
      invoiceNumber: null,
      expiresAtMs: this.#nowMs,
      openedAtMs: this.#nowMs,
      updatedAtMs: this.#nowMs,
    });
  }

  /** The sums of its payment after a change, and what that says. V4, left to right. */
  #counted(
    transfer: PaymentTransferRow,
    { deposit, before, confirmations }: DepositChange,
    newId: string,
  ): TransferEvent | null {
    const payment = this.#payments.get(transfer.paymentId!)!,
      { amount, status } = deposit,
      late = transfer.role === 'late';
    const wasConfirmed = payment.status === 'confirmed';
    if (status === 'detected') {
      this.#sum(transfer, late ? { late: amount } : { seen: amount });
      return before === 'reversed' ? null : { event: 'payment_detected' };
    }
    if (status === 'confirmed') {
      const after = this.#sum(transfer, late ? {} : { confirmed: amount });
      if (!late) this.#noteConfirmed(after, deposit);
      if (late) return { event: 'payment_late' };
      if (after.status !== 'confirmed') return after.seen < after.due ? { event: 'payment_underpaid' } : null;
      if (wasConfirmed) return { event: 'payment_unmatched', reason: 'surplus' };
      this.#issue(after, invoiceIdOf(newId));
      return { event: 'payment_confirmed' };
    }
    const confirmed = before === 'confirmed' && !late ? { confirmed: -amount } : {};
    this.#sum(transfer, late ? { late: -amount } : { seen: -amount, ...confirmed });
    const named = this.#confirmed.get(payment.id) ?? [];
    this.#confirmed.set(
      payment.id,
      named.filter(({ depositId }) => depositId !== deposit.id),
    );
    return { event: 'payment_reversed', reversedFrom: before!, depth: confirmations };
  }

  /** Adds to the sums of a payment, and to what its link derives of them: M5, M7, P13. */
  #sum(
    { depositId, incarnation, paymentId, linkId }: PaymentTransferRow,
    { seen = 0n, confirmed = 0n, late = 0n }: { seen?: bigint; confirmed?: bigint; late?: bigint },
  ): PaymentRow {
    const before = this.#payments.get(paymentId!)!,
      link = this.#links.get(linkId)!;
    const sums = {
      seen: before.seen + seen,
      confirmed: before.confirmed + confirmed,
      late: before.late + late,
    };
    const status = statusOf({ ...before, ...sums }, link.status === 'closed', this.#nowMs);
    const after = this.#putPayment({ ...before, ...sums, status, updatedAtMs: this.#nowMs });
    this.#put({
      ...link,
      amountRaised: link.amountRaised + confirmed,
      paymentCount: link.paymentCount + Number(status === 'confirmed') - Number(before.status === 'confirmed'),
      uses: link.uses + Number(isUse(status)) - Number(isUse(before.status)),
    });
    if (confirmed !== 0n) {
      const { accountId } = this.#core,
        kind = confirmed > 0n ? 'counted' : 'reversed';
      const row = { depositId, incarnation, kind, accountId, linkId, paymentId: after.id, amount: confirmed } as const;
      this.#added.push({ table: 'payment_entry', row });
    }
    this.#events.push({ type: 'payment_changed', id: after.id, status, depositId, incarnation });
    return after;
  }

  #noteConfirmed({ id: paymentId }: PaymentRow, { id: depositId, txid, amount, createdAtMs }: DepositRow): void {
    const one = { depositId, paymentId, txid, amount: String(amount), seenAtMs: createdAtMs };
    const named = [...(this.#confirmed.get(paymentId) ?? []), one];
    this.#confirmed.set(
      paymentId,
      named.toSorted((a, b) => a.seenAtMs - b.seenAtMs || (a.depositId < b.depositId ? -1 : 1)),
    );
  }

  /** I1, I2: the number is the account's, taken in the append that says that the payment is confirmed. */
  #issue(payment: PaymentRow, id: string): void {
    const link = this.#links.get(payment.linkId)!;
    if (!willHaveInvoice(link, payment)) return;
    const sees = { invoices: this.#invoices, paymentSettings: this.#core.paymentSettings };
    const row = invoiceOf(sees, id, link, payment, this.#confirmed.get(payment.id) ?? [], this.#nowMs);
    const { year, number } = row;
    this.#invoices = { year, last: number };
    this.#putPayment({ ...payment, invoiceId: id, invoiceNumber: invoiceNumberOf(row) });
    this.#added.push({ table: 'invoice', row });
    this.#events.push({ type: 'invoice_issued', id, paymentId: payment.id, year, number });
  }

  #close(linkId: string, { ledger, address }: DepositRow): RowWrite {
    const open = this.#links.get(linkId)!,
      reason = closedByMoney(open)!;
    const link = this.#put(closed(open, reason, this.#heads[ledger] ?? null, this.#nowMs, this.#terms.monitorDays));
    this.#closed.push(linkId);
    this.#events.push({ type: 'payment_link_changed', id: linkId, status: 'closed', closedReason: reason });
    this.announced.push('payment_link_closed');
    for (const payment of this.#payments.values())
      if (payment.linkId === linkId && payment.status === 'awaiting_payment')
        this.#payments.set(payment.id, { ...payment, status: 'expired' }); // written by `payments_expired`
    return linkClosed(this.#core, link, {
      position: this.#events.length,
      orderKey: address,
      payUrl: this.#terms.payUrl,
      atMs: this.#nowMs,
    });
  }

  #say(what: TransferEvent, transfer: PaymentTransferRow, { deposit, confirmations }: DepositChange): RowWrite[] {
    if (!deposit.announced) return [];
    const { linkId, paymentId, role } = transfer;
    const link = this.#links.get(linkId)!,
      payment = paymentId === null ? null : this.#payments.get(paymentId)!;
    this.announced.push(what.event);
    return [
      transferEvent(
        this.#core,
        what,
        { link, payment, deposit, role, path: this.#paths[deposit.addressId] ?? null },
        confirmations,
        this.#nowMs,
      ),
    ];
  }

  #put(link: PaymentLinkRow): PaymentLinkRow {
    this.#links.set(link.id, link);
    this.#moved.add(link.id);
    return link;
  }

  #putPayment(payment: PaymentRow): PaymentRow {
    this.#payments.set(payment.id, payment);
    this.#moved.add(payment.id);
    return payment;
  }
}

/** S11, M6. Found by address, asset and network; never by amount or sender. */
function roleOf({ chain, tokenContract, height }: DepositRow, link: PaymentLinkRow): TransferRole {
  if (chain !== link.chain) return 'wrong_network';
  if (tokenContract !== link.tokenContract) return 'wrong_asset';
  return isLate(link, height) ? 'late' : 'counted';
}

function strayed(
  { role }: PaymentTransferRow,
  { deposit, before, confirmations }: DepositChange,
): TransferEvent | null {
  if (deposit.status === 'confirmed')
    return { event: 'payment_unmatched', reason: role as 'wrong_asset' | 'wrong_network' };
  // Only what was announced as unmatched is taken back; its detection said nothing of a payment.
  return deposit.status === 'reversed' && before === 'confirmed'
    ? { event: 'payment_reversed', reversedFrom: before, depth: confirmations }
    : null;
}
