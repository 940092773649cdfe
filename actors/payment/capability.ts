/** Payment links and the payments towards them. What deposits make of them: `book.ts`. */
import type { PaymentSees } from '../../model/account/capabilities.ts';
import type { PaymentCommand, PaymentState } from '../../model/account/payment.ts';
import type { Capability } from '../account/decision.ts';
import { paymentFolds } from './evolve.ts';
import { changeLink, closeDueLink, createLink, setLinkStatus } from './links.ts';
import { openPayment } from './open.ts';
import { relendLink } from './relend.ts';
import { changeSettings } from './settings.ts';

export const payment: Capability<PaymentCommand, PaymentSees, PaymentState> = {
  owns: ['paymentSettings', 'links', 'unpaid', 'invoices'],
  decide: {
    create_payment_link: createLink,
    change_payment_link: changeLink,
    set_payment_link_status: setLinkStatus,
    open_payment: openPayment,
    close_due_link: closeDueLink,
    relend_link: relendLink,
    change_payment_settings: changeSettings,
  },
  folds: paymentFolds,
};
