/**
 * Rows of an append: links, payments and what came in for them. Two decisions of one append on the same row stay two
 * rows, so that the store refuses the second: it was made on what the first changed. payments M2.
 */
import type { PaymentWrite } from '../../../model/account/payment.ts';
import { encoded, storedRow, type AppendOf, type Encoded } from './rows.ts';

const fields = (table: string, row: object): readonly Encoded[] => [
  encoded(table, storedRow({ table, row, key: '' }).row),
];

export const payment: AppendOf<PaymentWrite> = {
  payment_link: ({ row }) => fields('payment_links', row),
  payment: ({ row }) => fields('payments', row),
  checkout_address: ({ row }) => fields('checkout_addresses', row),
  payment_transfer: ({ row }) => fields('payment_transfers', row),
  payment_entry: ({ row }) => fields('payment_entries', row),
  invoice: ({ row }) => fields('invoices', row),
  payments_retired: () => [encoded('payments_retired', {}, '')],
  payments_expired: ({ linkId }) => [encoded('payments_expired', { link_id: linkId }, linkId)],
};
