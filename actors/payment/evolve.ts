/** How the settings of payments and the counts of links change. */
import type { PaymentState } from '../../model/account/payment.ts';
import type { Folds } from '../account/decision.ts';

export const paymentFolds: Folds<PaymentState, PaymentState> = {
  payment_link_created: ({ links }, { custom }) => ({
    links: { open: links.open + 1, customSlugs: links.customSlugs + (custom === true ? 1 : 0) },
  }),
  address_issued: ({ unpaid }, { family, lent }) =>
    lent === true ? { unpaid: { ...unpaid, [family]: (unpaid[family] ?? 0) + 1 } } : {},
  address_counted: ({ unpaid }, { family }) => ({
    unpaid: { ...unpaid, [family]: Math.max(0, (unpaid[family] ?? 0) - 1) },
  }),
  // A closed link is closed once: M8.
  payment_link_changed: ({ links }, { status }) =>
    status === 'closed' ? { links: { ...links, open: Math.max(0, links.open - 1) } } : {},
  // S17: what was lent of the former identity is never lent again, and is no gap of the new one.
  rotation_approved: () => ({ unpaid: {} }),
  account_wiped: () => ({ unpaid: {} }),
  invoice_issued: (_, { year, number }) => ({ invoices: { year, last: number } }),
  payment_settings_changed: (_, { settings }) => ({ paymentSettings: settings }),
  // Slugs are never free again, so that their count stays. P6.
  // Its invoices are forgotten with its payments. I2.
  sandbox_reset: ({ links }) => ({ links: { ...links, open: 0 }, unpaid: {}, invoices: { year: 0, last: 0 } }),
};
