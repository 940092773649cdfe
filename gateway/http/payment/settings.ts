/** Settings of payments. payments P24. */
import type { PaymentSettings } from '../../../model/account/payment.ts';
import { refuse } from '../../../protocol/errors.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, claimOf, type Handlers } from '../context.ts';
import { notFresh } from '../organization/second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { settingsView } from './views.ts';

export function paymentSettingHandlers(deps: HandlerDeps): Pick<Handlers, 'getPaymentSettings' | 'putPaymentSettings'> {
  return {
    async getPaymentSettings(asked) {
      const { plan, paymentSettings } = await stateOf(deps, accountOf(asked));
      return settingsView(plan.paymentsActive, paymentSettings);
    },
    putPaymentSettings: {
      replay: async (stored) => {
        const { active, settings } = stored as { active: boolean; settings: PaymentSettings };
        return settingsView(active, settings);
      },
      async handle(asked) {
        const accountId = accountOf(asked),
          { environment } = asked.caller,
          { body } = asked;
        const origins = [...new Set(body.origins ?? [])];
        if (environment === 'live' && origins.some((origin) => origin.startsWith('http:')))
          return refuse('INVALID_INPUT', { field: 'origins', reason: 'https in live' });
        const { paymentSettings: before } = await stateOf(deps, accountId);
        const moved = JSON.stringify(origins.toSorted()) !== JSON.stringify(before.origins.toSorted());
        const stale = moved && environment === 'live' ? await notFresh(deps, asked, body.totp) : null;
        if (stale !== null) return stale;
        const settings: PaymentSettings = {
          displayName: body.displayName ?? null,
          supportEmail: body.supportEmail ?? null,
          supportUrl: body.supportUrl ?? null,
          origins,
          toleranceBps: body.toleranceBps ?? 0,
          timeZone: body.timeZone ?? 'UTC',
          language: body.language ?? 'en',
          invoice: {
            name: body.invoice?.name ?? null,
            address: body.invoice?.address ?? null,
            taxId: body.invoice?.taxId ?? null,
          },
        };
        const answer = await deps.accounts.ask(accountId, {
          type: 'change_payment_settings',
          active: body.active,
          settings,
          ...claimOf(asked),
        });
        return answer.ok === true ? settingsView(answer.reply.active, answer.reply.settings) : answer;
      },
    },
  };
}
