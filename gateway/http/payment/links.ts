/** Payment links of a merchant. Spec §4.6; payments part 3. */
import { randomBytes } from 'node:crypto';
import { badTerms, linkRefusal } from '../../../actors/payment/links.ts';
import type { LinkAction, LinkChange, NewLink } from '../../../model/account/payment.ts';
import type { PaymentLinkRow } from '../../../model/rows/payment.ts';
import { isRefusal, PAYMENTS_MOVED, refuse, type Refusal } from '../../../protocol/errors.ts';
import { ledgerOf } from '../../../protocol/ids.ts';
import { base32, newId } from '../../../protocol/node/ids.ts';
import { RESERVED_SLUGS, SLUG_FORM } from '../../../protocol/reserved-slugs.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { timeOf } from '../../../actors/sandbox/time.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { listAskOf, pageAs } from '../views.ts';
import { amountIn, assetNamed, checkoutChain, type Asset } from './asset.ts';
import type { Economics } from './economics.ts';
import { linkView } from './views.ts';
import type { Tokens } from '../../../chains/tokens.ts';

type Area =
  | 'createPaymentLink'
  | 'listPaymentLinks'
  | 'getPaymentLink'
  | 'changePaymentLink'
  | 'pausePaymentLink'
  | 'resumePaymentLink'
  | 'closePaymentLink';
type OfOne = 'changePaymentLink' | 'pausePaymentLink' | 'resumePaymentLink' | 'closePaymentLink';

/** Tries of what was decided on rows that changed meanwhile, and of random slugs that are taken. */
const TRIES = 5;
/** 80 bits, 16 characters. P5. */
const SLUG_BYTES = 10;
const FIVE_YEARS_MS = 5 * 366 * 86_400_000;

export function linkHandlers(deps: HandlerDeps, economics: Economics): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    stores: { reads },
    config,
    nowMs,
  } = deps;
  const view = (row: PaymentLinkRow) => linkView(config.payUrl ?? config.publicUrl, row);
  const replay = async (stored: unknown) => view(stored as PaymentLinkRow);

  /** What a link's command is decided on: the row, and for a closing the head of its ledger. */
  async function onLink(
    asked: Asked<OfOne>,
    decide: (known: PaymentLinkRow, head: number | null) => Promise<Answer> | Answer,
  ): Promise<Answer> {
    const accountId = accountOf(asked);
    for (let tries = 1; ; tries += 1) {
      const known = await reads.paymentLink(accountId, asked.params.id);
      if (known === null) return unknownIn(asked, 'payment link', asked.params.id);
      const answer = await decide(known, await reads.headOf(ledgerOf(known.chain, accountId)));
      if (!hasMoved(answer) || tries === TRIES) return answer;
    }
  }
  const set = (action: LinkAction) => ({
    replay,
    async handle(asked: Asked<'pausePaymentLink' | 'resumePaymentLink' | 'closePaymentLink'>) {
      const answer = await onLink(asked, (known, head) =>
        accounts.ask(accountOf(asked), {
          type: 'set_payment_link_status',
          known,
          action,
          head,
          ...claimOf(asked),
        }),
      );
      return answer.ok === true ? view(answer.reply) : answer;
    },
  });

  return {
    createPaymentLink: {
      replay,
      async handle(asked) {
        const accountId = accountOf(asked);
        const state = await stateOf(deps, accountId),
          atMs = nowMs() + state.aheadMs;
        const wanted = newLinkOf(asked, chains.tokens, atMs);
        if (isRefusal(wanted)) return wanted;
        const { link, asset, customSlug } = wanted;
        const no = linkRefusal(state, link, customSlug, atMs);
        if (no !== null) return no;
        const unavailable =
          (await economics.tooSmall(accountId, link.chain, asset, link.amount)) ??
          (await chains.notBegun(accountId, link.chain));
        if (unavailable !== null) return unavailable;
        for (let tries = 1; ; tries += 1) {
          const answer = await accounts.ask(accountId, {
            type: 'create_payment_link',
            link: customSlug ? link : { ...link, slug: randomSlug() },
            customSlug,
            addressId: newId('adr', nowMs()),
            ...claimOf(asked),
          });
          if (answer.ok === true) return view(answer.reply);
          const again = hasMoved(answer) || (!customSlug && isRefusal(answer) && answer.details['reason'] === 'taken');
          if (!again || tries === TRIES) return answer;
        }
      },
    },
    async listPaymentLinks(asked) {
      const ask = listAskOf('payment-links', asked.query);
      if (isRefusal(ask)) return ask;
      return pageAs(await reads.paymentLinks(accountOf(asked), ask.filter, ask.page), view);
    },
    async getPaymentLink(asked) {
      const row = await reads.paymentLink(accountOf(asked), asked.params.id);
      return row === null ? unknownIn(asked, 'payment link', asked.params.id) : view(row);
    },
    changePaymentLink: {
      replay,
      async handle(asked) {
        const atMs = await timeOf(deps, accountOf(asked));
        const answer = await onLink(asked, (known, head) => {
          const change = changeOf(asked, known, atMs);
          return isRefusal(change)
            ? change
            : accounts.ask(accountOf(asked), { type: 'change_payment_link', known, change, head, ...claimOf(asked) });
        });
        return answer.ok === true ? view(answer.reply) : answer;
      },
    },
    pausePaymentLink: set('pause'),
    resumePaymentLink: set('resume'),
    closePaymentLink: set('close'),
  };
}

type Answer = { readonly ok: true; readonly reply: PaymentLinkRow } | { readonly ok: 'duplicate' } | Refusal;

const hasMoved = (answer: { readonly ok: unknown }): boolean =>
  isRefusal(answer) && answer.details['reason'] === PAYMENTS_MOVED;

const randomSlug = (): string => base32(randomBytes(SLUG_BYTES));

interface Wanted {
  readonly link: NewLink;
  readonly asset: Asset;
  readonly customSlug: boolean;
}

/** The link that is asked for, without a slug where it gets a random one. Refuses: as payments 3.1 says. */
function newLinkOf(asked: Asked<'createPaymentLink'>, tokens: Tokens, now: number): Wanted | Refusal {
  const { body, caller } = asked;
  const chain = checkoutChain(body.chain);
  const slug = body.mode === 'donation' ? (body.slug ?? null) : null;
  const input = badSlug(slug) ?? badDate(body.closesAt ?? null, now) ?? badUrl(body.successUrl ?? null, caller);
  if (input !== null) return input;
  if (isRefusal(chain)) return chain;
  const asset = assetNamed(chain, body.asset, tokens);
  // An amount that the asset cannot have is known before the asset is refused only where the asset is known.
  if (isRefusal(asset)) return asset;
  const amounts = amountsOf(asset, body);
  if (isRefusal(amounts)) return amounts;
  const { amount = null, thresholdAmount = null, minAmount = null, maxAmount = null } = amounts;
  const link: NewLink = {
    id: newId('lnk', now),
    slug: slug ?? '',
    mode: body.mode,
    addressMode: body.addressMode ?? 'per_payer',
    chain,
    asset: asset.symbol,
    tokenContract: asset.tokenContract,
    decimals: asset.decimals,
    amount,
    thresholdAmount,
    minAmount,
    maxAmount,
    closesAtMs: body.closesAt == null ? null : Date.parse(body.closesAt),
    maxUses: body.maxUses ?? null,
    title: body.title ?? null,
    description: body.description ?? null,
    collectEmail: body.collectEmail ?? false,
    successUrl: body.successUrl ?? null,
    metadata: JSON.stringify(body.metadata ?? {}),
  };
  return badTerms(link) ?? { link, asset, customSlug: slug !== null };
}

const AMOUNTS = ['amount', 'thresholdAmount', 'minAmount', 'maxAmount'] as const;
type Amounts = Partial<Record<(typeof AMOUNTS)[number], bigint | null>>;

/** The amounts that a body names, null where it takes one away. Refuses: INVALID_AMOUNT. */
function amountsOf(
  asset: Pick<Asset, 'symbol' | 'decimals'>,
  body: Partial<Record<(typeof AMOUNTS)[number], string | null | undefined>>,
): Amounts | Refusal {
  const found: Amounts = {};
  for (const field of AMOUNTS) {
    const text = body[field];
    if (text === undefined) continue;
    const amount = text === null ? null : amountIn(asset, field, text);
    if (isRefusal(amount)) return amount;
    found[field] = amount;
  }
  return found;
}

/** P6. */
function badSlug(slug: string | null): Refusal | null {
  if (slug === null) return null;
  if (!SLUG_FORM.test(slug))
    return refuse('INVALID_INPUT', {
      field: 'slug',
      reason: 'lower case letters, digits and single hyphens inside, 3 to 64 characters',
    });
  return RESERVED_SLUGS.has(slug) ? refuse('INVALID_INPUT', { field: 'slug', reason: 'reserved' }) : null;
}

function badDate(closesAt: string | null, now: number): Refusal | null {
  if (closesAt === null) return null;
  const at = Date.parse(closesAt);
  return at > now && at <= now + FIVE_YEARS_MS
    ? null
    : refuse('INVALID_INPUT', { field: 'closesAt', reason: 'later than now, within five years' });
}

/** Plain http is for sandboxes. */
function badUrl(url: string | null, { environment }: { environment: Environment }): Refusal | null {
  return url === null || environment === 'sandbox' || url.startsWith('https:')
    ? null
    : refuse('INVALID_INPUT', { field: 'successUrl', reason: 'https in live' });
}

/** The fields that change, as the row has them. Refuses: INVALID_INPUT, INVALID_AMOUNT. P4. */
function changeOf(asked: Asked<'changePaymentLink'>, known: PaymentLinkRow, now: number): LinkChange | Refusal {
  const { body, caller } = asked;
  const { thresholdAmount, minAmount, maxAmount } = body;
  const input =
    (body.closesAt === undefined ? null : badDate(body.closesAt, now)) ?? badUrl(body.successUrl ?? null, caller);
  if (input !== null) return input;
  const amounts = amountsOf(
    { symbol: known.asset, decimals: known.decimals },
    { thresholdAmount, minAmount, maxAmount },
  );
  if (isRefusal(amounts)) return amounts;
  const { title, description, successUrl, collectEmail, closesAt, maxUses, metadata } = body;
  return {
    ...amounts,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(successUrl === undefined ? {} : { successUrl }),
    ...(collectEmail == null ? {} : { collectEmail }),
    ...(closesAt === undefined ? {} : { closesAtMs: closesAt === null ? null : Date.parse(closesAt) }),
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata ?? {}) }),
  };
}
