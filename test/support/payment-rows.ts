/** Links, payments and lent addresses as a decision would write them. */
import type { AddressRow } from '../../model/rows/address.ts';
import type { CheckoutAddressRow, PaymentLinkRow, PaymentRow } from '../../model/rows/payment.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { nextSerial, NOW_MS } from './store-rows.ts';

export function linkRow(accountId: AccountId, more: Partial<PaymentLinkRow> = {}): PaymentLinkRow {
  return {
    id: newId('lnk', NOW_MS),
    accountId,
    version: 1,
    slug: `slug${nextSerial()}`,
    mode: 'fixed',
    addressMode: 'per_payer',
    chain: 'eth',
    asset: 'ETH',
    tokenContract: null,
    decimals: 18,
    amount: 1_000n,
    thresholdAmount: null,
    minAmount: null,
    maxAmount: null,
    closesAtMs: null,
    maxUses: null,
    title: 'Order 1001',
    description: null,
    collectEmail: false,
    successUrl: null,
    metadata: '{"b":1,"a":2}',
    status: 'active',
    closedReason: null,
    closedAtMs: null,
    closedAtHeight: null,
    monitorUntilMs: null,
    addressId: null,
    address: null,
    derivationPath: null,
    amountRaised: 0n,
    paymentCount: 0,
    uses: 0,
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
    ...more,
  };
}

export function paymentRow(link: PaymentLinkRow, address: AddressRow, more: Partial<PaymentRow> = {}): PaymentRow {
  return {
    id: newId('pay', NOW_MS),
    accountId: link.accountId,
    linkId: link.id,
    version: 1,
    status: 'awaiting_payment',
    amount: link.amount,
    due: link.amount ?? 1n,
    ceiling: link.amount,
    seen: 0n,
    confirmed: 0n,
    late: 0n,
    addressId: address.id,
    address: address.address,
    derivationPath: address.derivationPath,
    addressReused: false,
    customerEmail: null,
    customerName: null,
    language: null,
    payerKey: null,
    clientKey: null,
    expiresAtMs: NOW_MS + 3_600_000,
    openedAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
    ...more,
  };
}

export const lentRow = (link: PaymentLinkRow, payment: PaymentRow, address: AddressRow): CheckoutAddressRow => ({
  id: `chk_${nextSerial()}`,
  accountId: link.accountId,
  addressId: address.id,
  linkId: link.id,
  paymentId: payment.id,
  reused: false,
  lentAtMs: NOW_MS,
  releasedAtMs: null,
  paidAtMs: null,
});
