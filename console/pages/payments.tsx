/** Links that ask for money, what was paid towards them, and what payers see. */
import '../ui/together.ts';
export { InvoiceDetail, Invoices } from './invoices.tsx';
export { NewPaymentLink } from './payment-link-new.tsx';
export { PaymentLinkDetail } from './payment-link.tsx';
export { PaymentLinks } from './payment-links.tsx';
export { PaymentDetail } from './payment-detail.tsx';
export { PaymentReadiness } from './payment-readiness.tsx';
export { PaymentSettings } from './payment-settings.tsx';
export { Payments } from './payment-list.tsx';
