/** What payers ask, without a credential. payments part 4. */
import { presentFrom } from '../../../actors/edge-link/retired-identities.ts';
import { openingRefusal, unpaidMax } from '../../../actors/payment/open.ts';
import { ADDRESS_REST_MS } from '../../../actors/payment/terms.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { LentBefore } from '../../../model/account/payment.ts';
import type { Openings } from '../../../model/ports/read-store.ts';
import type { PaymentLinkRow, PaymentRow } from '../../../model/rows/payment.ts';
import { isRefusal, notFound, PAYMENTS_MOVED, refuse, type Refusal } from '../../../protocol/errors.ts';
import { environmentOf, ledgerOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF } from '../../../protocol/slugs.ts';
import { SLUG_FORM } from '../../../protocol/reserved-slugs.ts';
import { stateOf } from '../account-state.ts';
import { emailOf as mailboxOf } from '../auth/email-address.ts';
import type { Asked, Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { amountIn } from './asset.ts';
import { attestationOf, keyFingerprintOf } from './attestations.ts';
import { clientNetwork, countedTo, createCheckoutLimits, tooManyOpen } from './checkout-limits.ts';
import { createCheckoutStreams, MARK_FORM } from './checkout-stream.ts';
import type { Economics } from './economics.ts';
import { asksEmail, checkoutLinkView, sessionView, sharedSession, shownOf, statusNow } from './session-view.ts';

type Area = 'getCheckoutLink' | 'openCheckoutSession' | 'donate' | 'getCheckoutSession' | 'listenSession';
/** Who pays, as far as it is asked: a program, the component, or the hosted page. */
export type Payer = Pick<Asked, 'clientAddress' | 'origin' | 'setHeader' | 'wasThere'>;
type Opening = Payer & {
  readonly params: { readonly slug: string };
  readonly body: Asked<'openCheckoutSession'>['body'];
};

/** Tries of what was decided on rows that changed meanwhile. */
const TRIES = 5;

/** Of whom, and from where. */
export interface Place {
  readonly link: PaymentLinkRow;
  readonly state: AccountState;
}

/** What payers may ask, by whatever page. */
export interface Checkout {
  /** The link that is meant, its account, and whether the page that asks may. Refuses: NOT_FOUND and so on. */
  placeOf(payer: Payer, of: { slug: string } | { paymentId: string }): Promise<Place | Refusal>;
  linkOf(place: Place): ReplyOf<'getCheckoutLink'>;
  /** Opens nothing. Refuses: NOT_FOUND. */
  paymentOf(place: Place, id: string): Promise<ReplyOf<'getCheckoutSession'> | Refusal>;
  /** S4: what a payer of a shared link is shown; `announced` fills the code only, where it is an amount. */
  sharedOf(place: Place, announced: string): Promise<ReplyOf<'getCheckoutSession'>>;
  /** What a payer sees of a payment now, for a page that was let in before; null where there is none any more. */
  viewOf(paymentId: string): Promise<ReplyOf<'getCheckoutSession'> | null>;
  /** As of a payment that there is none of. */
  none(paymentId: string): Refusal;
  open(
    asked: Opening,
    announced: string | null,
    door: PaymentLinkRow['mode'],
  ): Promise<ReplyOf<'getCheckoutSession'> | Refusal>;
}

/** What a checkout is made of. */
export type CheckoutDeps = Pick<
  HandlerDeps,
  'accounts' | 'chains' | 'secrets' | 'stores' | 'config' | 'nowMs' | 'rateLimiter'
>;

export function createCheckout(deps: CheckoutDeps, economics: Economics): Checkout {
  const {
    accounts,
    secrets,
    stores: { reads },
    config,
    nowMs,
  } = deps;
  const limits = createCheckoutLimits(deps.rateLimiter, nowMs);
  /** A sandbox goes by its own clock. */
  const timeIn = ({ aheadMs }: Pick<AccountState, 'aheadMs'>): number => nowMs() + aheadMs;
  const ownOrigins = new Set([config.publicUrl, config.payUrl ?? config.publicUrl].map((url) => new URL(url).origin));
  const clientOf = ({ clientAddress }: Pick<Asked, 'clientAddress'>) => clientNetwork(clientAddress);

  /** The link that is meant, its account, and whether the page that asks may. S20, E8. Refuses: NOT_FOUND and so on. */
  async function placeOf(asked: Payer, of: { slug: string } | { paymentId: string }): Promise<Place | Refusal> {
    const client = clientOf(asked);
    const often = await limits.asked(client);
    if (often !== null) return often;
    const named = !('slug' in of) || SLUG_FORM.test(of.slug);
    const link = named ? await reads.checkout(of) : null;
    if (link === null)
      return (
        (await limits.unknown(client)) ??
        notFound('slug' in of ? 'payment link' : 'payment', 'slug' in of ? of.slug : of.paymentId)
      );
    const slow = await limits.view(client, environmentOf(link.accountId));
    if (slow !== null) return slow;
    const state = await stateOf(deps, link.accountId);
    const { origin } = asked;
    if (origin !== undefined && !ownOrigins.has(origin)) {
      if (!state.paymentSettings.origins.includes(origin)) return refuse('ORIGIN_NOT_REGISTERED');
      asked.setHeader('access-control-allow-origin', origin);
    }
    asked.setHeader('vary', 'Origin');
    return { link, state };
  }

  async function shownPayment({ link, state }: Place, payment: PaymentRow): Promise<ReplyOf<'getCheckoutSession'>> {
    const [transfers, attestation] = await Promise.all([
      reads.paymentTransfers(link.accountId, [payment.id]),
      attestationOf(deps, link.accountId, { ...payment, chain: link.chain }),
    ]);
    const shown = { ...shownOf(config.publicUrl, link, transfers), attestation };
    return sessionView(link, payment, state.paymentSettings, shown, timeIn(state));
  }

  async function shownShared({ link, state }: Place, amount: bigint | null): Promise<ReplyOf<'getCheckoutSession'>> {
    const { accountId, chain } = link,
      [address, derivationPath] = [link.address!, link.derivationPath!];
    const attestation = await attestationOf(deps, accountId, { chain, address, derivationPath });
    return sharedSession(link, state.paymentSettings, amount, attestation, timeIn(state));
  }

  /** One payer, one open payment. S1–S5. */
  async function open(asked: Opening, announced: string | null, door: PaymentLinkRow['mode']) {
    const { slug } = asked.params;
    const place = await placeOf(asked, { slug });
    if (isRefusal(place)) return place;
    const { link, state } = place,
      environment = environmentOf(link.accountId);
    const slow = await limits.opening(clientOf(asked), link.slug, environment);
    if (slow !== null) return slow;
    if (link.mode !== door)
      return refuse('CONFLICT', { reason: 'wrong_door', next: link.mode === 'fixed' ? 'sessions' : 'donate' });
    const foreign = otherMerchant(asked, state);
    if (foreign !== null) return foreign;
    const email = emailOf(link, asked.body.email ?? null);
    if (isRefusal(email)) return email;
    const amount = await announcedOf(link, announced);
    if (isRefusal(amount)) return amount;
    const no = openingRefusal(state, link, timeIn(state));
    if (no !== null) return asPublic(no);
    if (link.addressMode === 'shared') {
      asked.wasThere();
      return shownShared(place, amount);
    }
    const clientKey = secrets.mac(clientOf(asked), `checkout client ${link.accountId}`);
    const payerKey = asksEmail(link)
      ? secrets.mac(`${email!.toLowerCase()}\n${clientOf(asked)}`, `checkout payer ${link.id}`)
      : 'anyone';
    for (let tries = 1; ; tries += 1) {
      const known = tries === 1 ? link : await reads.checkout({ slug });
      if (known === null) return notFound('payment link', slug);
      const found = await reads.openings(
        known,
        { payerKey, email: email?.toLowerCase() ?? null, clientKey },
        countedTo(environment),
        timeIn(state),
      );
      const there = openOf(found, known, timeIn(state));
      if (there !== null) {
        asked.wasThere();
        return shownPayment({ link: known, state }, there);
      }
      const full = tooManyOpen(found, known.mode, environment);
      if (full !== null) return full;
      const answer = await accounts.ask(known.accountId, {
        type: 'open_payment',
        link: known,
        payment: {
          id: newId('pay', nowMs()),
          amount,
          customerEmail: email,
          customerName: asked.body.name ?? null,
          language: asked.body.lang ?? null,
          payerKey,
          clientKey,
        },
        earlier: again(found),
        resting: await restingFor(known, state),
        addressId: newId('adr', nowMs()),
        ...(config.unpaidMax === undefined ? {} : { unpaidMax: config.unpaidMax }),
      });
      if (answer.ok === true) return shownPayment({ link: known, state }, answer.reply);
      if (!isRefusal(answer)) return refuse('INTERNAL_ERROR');
      if (answer.details['reason'] !== PAYMENTS_MOVED || tries === TRIES) return asPublic(answer);
    }
  }

  /** S13: once a family has as many unpaid addresses as it may, the one that rests longest. */
  async function restingFor({ accountId, chain }: PaymentLinkRow, state: AccountState): Promise<LentBefore | null> {
    const restMs = config.addressRestMs === undefined ? ADDRESS_REST_MS : config.addressRestMs,
      family = FAMILY_OF[chain];
    if (restMs === null || (state.unpaid[family] ?? 0) < unpaidMax(state, config.unpaidMax)) return null;
    const ledgers = deps.chains
      .enabled(accountId)
      .filter((one) => FAMILY_OF[one] === family)
      .map((one) => ledgerOf(one, accountId));
    const fromIndex = presentFrom(state, family);
    return reads.restingAddress(accountId, { chain, fromIndex, sinceMs: timeIn(state) - restMs, ledgers });
  }

  /** S1, P21, P22: a chain that is silent refuses no payment. */
  async function announcedOf(link: PaymentLinkRow, announced: string | null): Promise<bigint | null | Refusal> {
    const asset = { symbol: link.asset, tokenContract: link.tokenContract, decimals: link.decimals };
    if (link.mode === 'fixed') {
      const poor = await economics.belowFee(link.accountId, link.chain, asset, link.amount!);
      return poor ?? null;
    }
    if (announced === null) return null;
    const amount = amountIn(asset, 'amount', announced);
    if (isRefusal(amount)) return amount;
    const { minAmount, maxAmount } = link;
    if (minAmount !== null && amount < minAmount)
      return refuse('INVALID_AMOUNT', { field: 'amount', reason: 'below_minimum_of_the_link' });
    if (maxAmount !== null && amount > maxAmount)
      return refuse('INVALID_AMOUNT', { field: 'amount', reason: 'above_maximum_of_the_link' });
    const small = await economics.tooSmall(link.accountId, link.chain, asset, amount).catch(() => null);
    return small !== null && small.code === 'INVALID_AMOUNT' ? small : amount;
  }

  return {
    placeOf,
    open,
    none: (paymentId) => notFound('payment', paymentId),
    async sharedOf(place, announced) {
      const { link } = place;
      // Anybody who has the link may write any amount into it: one that the link does not take is not shown.
      const amount = announced === '' || link.mode === 'fixed' ? null : await announcedOf(link, announced);
      return shownShared(place, isRefusal(amount) ? null : amount);
    },
    linkOf: ({ link, state }) =>
      checkoutLinkView(link, state.paymentSettings, state.plan.paymentsActive && !state.suspended, timeIn(state)),
    async viewOf(paymentId) {
      const link = await reads.checkout({ paymentId }),
        payment = link === null ? null : await reads.payment(link.accountId, paymentId);
      if (link === null || payment === null) return null;
      return shownPayment({ link, state: await stateOf(deps, link.accountId) }, payment);
    },
    async paymentOf(place, id) {
      const payment = await reads.payment(place.link.accountId, id);
      return payment === null ? notFound('payment', id) : shownPayment(place, payment);
    },
  };
}

export function checkoutHandlers(
  { placeOf, linkOf, paymentOf, viewOf, open }: Checkout,
  { stores, isDraining, log, metrics, config: { streamsMax } }: HandlerDeps,
): Pick<Handlers, Area> {
  const streams = createCheckoutStreams({
    marks: stores.changes.paymentMarks,
    viewOf,
    isDraining,
    log,
    observe: (count) => metrics.set('svc_checkout_streams', {}, count),
    ...(streamsMax === undefined ? {} : { most: streamsMax }),
  });
  return {
    async listenSession(asked) {
      const { lastEventId } = asked,
        { id: paymentId } = asked.params;
      if (isDraining()) return refuse('SERVICE_UNAVAILABLE', { reason: 'stopping', retryAfterSeconds: 1 });
      const place = await placeOf(asked, { paymentId });
      if (isRefusal(place)) return place;
      const stream = await streams.follow({
        paymentId,
        client: clientNetwork(asked.clientAddress),
        environment: environmentOf(place.link.accountId),
        seen: lastEventId !== undefined && MARK_FORM.test(lastEventId) ? lastEventId : null,
      });
      if (isRefusal(stream)) return stream;
      asked.setHeader('x-accel-buffering', 'no'); // nginx would hold it back
      asked.setHeader('cache-control', 'no-store');
      return stream as never;
    },
    async getCheckoutLink(asked) {
      const place = await placeOf(asked, { slug: asked.params.slug });
      return isRefusal(place) ? place : linkOf(place);
    },
    openCheckoutSession: (asked) => open(asked, null, 'fixed'),
    donate: (asked) => open(asked, asked.body.amount ?? null, 'donation'),
    async getCheckoutSession(asked) {
      const { id } = asked.params;
      const place = await placeOf(asked, { paymentId: id });
      return isRefusal(place) ? place : paymentOf(place, id);
    },
  };
}

/** S5: in public no details of a plan. */
const asPublic = (refusal: Refusal): Refusal =>
  refusal.code === 'ADDRESS_LIMIT_EXCEEDED' || refusal.code === 'TIER_FEATURE_LOCKED'
    ? refuse('ADDRESS_LIMIT_EXCEEDED')
    : refusal;

/** S2: what the payer has open; a complete donation is over, a fixed payment that is on its way is not. */
function openOf({ earlier }: Openings, link: PaymentLinkRow, nowMs: number): PaymentRow | null {
  if (earlier === null) return null;
  const status = statusNow(earlier.payment, link, nowMs);
  const isOpen =
    status === 'awaiting_payment' || status === 'underpaid' || (status === 'detected' && link.mode === 'fixed');
  return isOpen ? earlier.payment : null;
}

/** S13: an address that the payer had on this link, if it never received and nobody else has it. */
function again({ earlier }: Openings): Openings['earlier'] {
  if (earlier === null) return null;
  const { payment, holder } = earlier;
  const isFree = payment.seen === 0n && payment.late === 0n && holder.paidAtMs === null && holder.releasedAtMs === null;
  return isFree ? earlier : null;
}

/** E9: the page pinned one merchant and names another's link. */
function otherMerchant({ body }: Opening, { enrolment }: AccountState): Refusal | null {
  const { identityFingerprint } = body;
  if (identityFingerprint == null) return null;
  const own = enrolment === null ? null : keyFingerprintOf(enrolment.publicKey);
  return identityFingerprint === own ? null : refuse('MERCHANT_SCOPE_VIOLATION');
}

/** One `@`, a local part of at most 64, a dot in the domain, and a mailbox as of users: it is written to. S1, I5. */
const EMAIL = /^[^\s@]{1,64}@[^\s@.%]+(?:\.[^\s@.%]+)+$/u;
const isMailbox = (text: string): boolean =>
  EMAIL.test(text) && text.isWellFormed() && mailboxOf(text.toLowerCase()) !== null;

function emailOf(link: PaymentLinkRow, given: string | null): string | null | Refusal {
  if (given !== null && !isMailbox(given))
    return refuse('INVALID_INPUT', { field: 'email', reason: 'expected an e-mail address' });
  return given === null && asksEmail(link)
    ? refuse('INVALID_INPUT', { field: 'email', reason: 'this link asks for it' })
    : given;
}
