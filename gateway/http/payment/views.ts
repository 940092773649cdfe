/** Links as the wire shows them. payments P8. */
import { payUrlOf } from '../../../actors/payment/announce.ts';
import type { PaymentSettings } from '../../../model/account/payment.ts';
import type { PaymentLinkRow } from '../../../model/rows/payment.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { instantOf, instantOrNull } from '../views.ts';

/** A link of its merchant. `payUrl` is the origin of the pay page. */
export function linkView(payUrl: string, row: PaymentLinkRow): ReplyOf<'getPaymentLink'> {
  const inUnits = (amount: bigint | null): string | null =>
    amount === null ? null : formatAmount(amount, row.decimals);
  return {
    id: row.id,
    url: payUrlOf(payUrl, row.slug),
    slug: row.slug,
    mode: row.mode,
    addressMode: row.addressMode,
    chain: row.chain,
    asset: row.asset,
    tokenContract: row.tokenContract,
    decimals: row.decimals,
    amount: inUnits(row.amount),
    thresholdAmount: inUnits(row.thresholdAmount),
    minAmount: inUnits(row.minAmount),
    maxAmount: inUnits(row.maxAmount),
    closesAt: instantOrNull(row.closesAtMs),
    maxUses: row.maxUses,
    uses: row.uses,
    title: row.title,
    description: row.description,
    collectEmail: row.collectEmail,
    successUrl: row.successUrl,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    status: row.status,
    closedReason: row.closedReason,
    closedAt: instantOrNull(row.closedAtMs),
    monitorUntil: instantOrNull(row.monitorUntilMs),
    amountRaised: formatAmount(row.amountRaised, row.decimals),
    paymentCount: row.paymentCount,
    address: row.address,
    derivationPath: row.derivationPath,
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
  };
}

/** What payers see of a merchant, and by which rules it is paid. payments P24. */
export function settingsView(active: boolean, settings: PaymentSettings): ReplyOf<'getPaymentSettings'> {
  return { active, ...settings, origins: [...settings.origins], invoice: { ...settings.invoice } };
}
