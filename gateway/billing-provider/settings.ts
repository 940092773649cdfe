/** Who takes payments of statements, as a node's settings say it. Console B17. */
import { z } from 'zod';
import type { BillingProvider } from '../../model/ports/billing-provider.ts';
import { isNamed, lineSetting, listSetting, NAMED_FORM } from '../../protocol/node/setting-forms.ts';
import { createStripe } from './stripe.ts';

const STRIPE_API = 'https://api.stripe.com';
const BANK_DETAILS_CHARS_MAX = 500;
const API_FORM = `is an https address such as ${STRIPE_API}, without credentials or a query; http on this machine alone`;
/** The key goes to it with each call; an address with credentials is in the error of a call that fails. */
function isApi(text: string): boolean {
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isNear = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return (protocol === 'https:' || isNear) && `${username}${password}${search}${hash}` === '';
}

export const BILLING_SETTINGS = {
  /** One line: where customers transfer what they owe to. */
  BANK_DETAILS: lineSetting
    .max(BANK_DETAILS_CHARS_MAX, `is at most ${BANK_DETAILS_CHARS_MAX} characters`)
    .refine(isNamed, NAMED_FORM)
    .optional(),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_[A-Za-z0-9_]{10,250}$/, 'is a secret or restricted key of Stripe: sk_… or rk_…')
    .optional(),
  /** What Stripe signs its calls with; two while it changes. */
  STRIPE_WEBHOOK_SECRET: listSetting
    .pipe(
      z
        .array(z.string().regex(/^whsec_[A-Za-z0-9+/=_-]{8,250}$/, 'is the signing secret of an endpoint: whsec_…'))
        .max(2),
    )
    .optional(),
  /** Another place that speaks Stripe's API. */
  STRIPE_API_URL: z
    .url({ protocol: /^https?$/, error: API_FORM, abort: true })
    .refine(isApi, API_FORM)
    .transform((url) => url.replace(/\/+$/, ''))
    .default(STRIPE_API),
};
interface Read {
  readonly BANK_DETAILS?: string | undefined;
  readonly STRIPE_SECRET_KEY?: string | undefined;
  readonly STRIPE_WEBHOOK_SECRET?: readonly string[] | undefined;
  readonly STRIPE_API_URL: string;
}

/** Without keys of Stripe administrators record what came in. */
export function billingProviderOf(config: Read): BillingProvider {
  const { BANK_DETAILS: bankDetails = null, STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: secrets } = config;
  if (secretKey === undefined || secrets === undefined) return { name: 'manual', bankDetails, collector: null };
  const collector = createStripe({ secretKey, webhookSecrets: secrets, apiUrl: config.STRIPE_API_URL });
  return { name: 'stripe', bankDetails, collector };
}

/** The key asks for payments, the secret proves who says that one came: neither is of use alone. */
export const billingProblems = (present: Readonly<Record<string, string | undefined>>): string[] =>
  (present['STRIPE_SECRET_KEY'] === undefined) === (present['STRIPE_WEBHOOK_SECRET'] === undefined)
    ? []
    : ['STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET: both, or neither'];
