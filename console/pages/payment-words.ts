/** Payments and links in words, and what a form of a link sends. Nothing of it needs a browser. payments P3, P4. */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Call } from '../../protocol/client.ts';
import { parseDecimal } from '../../protocol/money.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { CheckoutChain, ClosedReason } from '../../protocol/slugs.ts';
import { grouped } from '../ui/text.ts';

export type Link = ReplyOf<'getPaymentLink'>;
export type Payment = ReplyOf<'getPayment'>;
export type LinkBody = Call<'createPaymentLink'>['body'];
export type LinkChanges = NonNullable<Call<'changePaymentLink'>['body']>;
type Values = Readonly<Record<string, string>>;

export const CLOSED: Readonly<Record<ClosedReason, string>> = {
  paid: 'It was paid',
  threshold: 'Its threshold was reached',
  date: 'Its date has come',
  manual: 'Closed by hand',
};

/** `25 USDC`, or what a donor may give. */
export function asksFor({ mode, amount, minAmount, maxAmount, asset }: Link): string {
  if (mode === 'fixed') return `${grouped(amount ?? '')} ${asset}`;
  if (minAmount !== null && maxAmount !== null) return `${grouped(minAmount)} to ${grouped(maxAmount)} ${asset}`;
  if (minAmount !== null) return `${grouped(minAmount)} ${asset} or more`;
  return maxAmount === null ? `Any amount of ${asset}` : `Up to ${grouped(maxAmount)} ${asset}`;
}

/** Whole percents of a sum, at most 100; by whole numbers. */
export function percentOf(part: string, whole: string, decimals: number): number {
  const [some, all] = [parseDecimal(part, decimals), parseDecimal(whole, decimals)];
  if (typeof some !== 'bigint' || typeof all !== 'bigint' || all === 0n) return 0;
  return some >= all ? 100 : Number((some * 100n) / all);
}

// ── What a form sends ────────────────────────────────────────────────────────────────────────────────────────────

const textOf = (values: Values, name: string): string => (values[name] ?? '').trim();
const orNull = (values: Values, name: string): string | null => textOf(values, name) || null;

/** What people write beside a link: a JSON object, or nothing. */
function metadataOf(text: string): { metadata: Record<string, unknown> } | Refusal {
  if (text === '') return { metadata: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { metadata: value as Record<string, unknown> };
  } catch {
    // said below
  }
  return refuse('INVALID_INPUT', { field: 'metadata', reason: 'a JSON object such as {"order": "1001"}' });
}

/** A date and time by the clock of the reader's own browser, as an instant. */
function closingOf(text: string): { closesAt: string | null } | Refusal {
  if (text === '') return { closesAt: null };
  const at = new Date(text);
  return Number.isNaN(at.getTime())
    ? refuse('INVALID_INPUT', { field: 'closesAt', reason: 'a date and a time' })
    : { closesAt: at.toISOString() };
}

/** `2026-11-30T16:00` by the reader's clock, as a field of a form has it. */
export function fieldTime(instant: string | null): string {
  if (instant === null) return '';
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The ten fields that may change later too; an empty one is null. */
function changeable(values: Values): Required<LinkChanges> | Refusal {
  const metadata = metadataOf(textOf(values, 'metadata')),
    closing = closingOf(textOf(values, 'closesAt')),
    uses = textOf(values, 'maxUses');
  if (isRefusal(metadata)) return metadata;
  if (isRefusal(closing)) return closing;
  return {
    title: orNull(values, 'title'),
    description: orNull(values, 'description'),
    successUrl: orNull(values, 'successUrl'),
    collectEmail: values['collectEmail'] !== undefined,
    minAmount: orNull(values, 'minAmount'),
    maxAmount: orNull(values, 'maxAmount'),
    thresholdAmount: orNull(values, 'thresholdAmount'),
    maxUses: uses === '' ? null : Number(uses),
    ...closing,
    ...metadata,
  };
}

/** A new link, of what a form has for its kind: what is empty is not sent. */
export function newLinkOf(values: Values): LinkBody | Refusal {
  const rest = changeable(values);
  if (isRefusal(rest)) return rest;
  const { metadata, collectEmail, ...optional } = rest;
  const [mode, chain] = [textOf(values, 'mode') as Link['mode'], textOf(values, 'chain') as CheckoutChain];
  const isGiven = ([, value]: [string, unknown]): boolean => value !== null;
  const fields = {
    ...optional,
    amount: orNull(values, 'amount'),
    slug: orNull(values, 'slug'),
    addressMode: orNull(values, 'addressMode'),
  };
  return {
    mode,
    chain,
    asset: textOf(values, 'asset'),
    ...(Object.fromEntries(Object.entries(fields).filter(isGiven)) as Partial<LinkBody>),
    ...(collectEmail ? { collectEmail } : {}),
    ...(Object.keys(metadata ?? {}).length === 0 ? {} : { metadata }),
  };
}

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

/** What of a link a form changed: a closed one takes four of the fields, and whatever is not sent stays. P4. */
export function changesOf(values: Values, link: Link): LinkChanges | Refusal {
  const after = changeable(values);
  if (isRefusal(after)) return after;
  const isSame = (name: string, value: unknown): boolean =>
    name === 'closesAt'
      ? textOf(values, name) === fieldTime(link.closesAt) // the field has no seconds
      : same(value, link[name as keyof Link]);
  const isOpen = link.status !== 'closed';
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) =>
        !isSame(name, value) && (isOpen || OF_CLOSED.has(name)) && (name in values || OF_BOX.has(name)),
    ),
  );
}
const OF_CLOSED = new Set(['title', 'description', 'successUrl', 'metadata']);
/** A box that is not ticked is in no form. */
const OF_BOX = new Set(['collectEmail']);

// ── How far a payment is ─────────────────────────────────────────────────────────────────────────────────────────

export type Step = readonly [name: string, note: string | null, state: 'done' | 'now' | 'later' | 'bad'];

/** The stations of a payment, in words. payments S6. */
export function stepsOfPayment(payment: Payment): readonly Step[] {
  const { status, transfers, amountRemaining, amountOverpaid, asset } = payment;
  const opened: Step = ['Opened', 'The address was given out', 'done'];
  if (status === 'expired') return [opened, ['Expired', 'Money that comes while the link is open still counts', 'now']];
  if (status === 'late')
    return [opened, ['Came late', 'After the link was closed: credited, and part of no sum', 'bad']];
  const counted = transfers.filter(({ late, status: of }) => !late && of !== 'reversed');
  const next = counted.find(({ status: of }) => of !== 'confirmed') ?? counted.at(-1);
  const depth =
    next === undefined ? null : `${Math.min(next.confirmations, next.threshold)} of ${next.threshold} confirmations`;
  if (status === 'underpaid')
    return [
      opened,
      ['Underpaid', `${grouped(amountRemaining)} ${asset} is missing: the address still takes it`, 'now'],
      ['Confirmed', null, 'later'],
    ];
  const isFinal = status === 'confirmed',
    isSeen = isFinal || status === 'detected';
  const over = /^0(?:\.0*)?$/.test(amountOverpaid) ? null : `${grouped(amountOverpaid)} ${asset} too much`;
  return [
    opened,
    ['Seen', isSeen ? over : 'Waiting for money', isSeen ? 'done' : 'now'],
    ['Confirming', isSeen ? depth : null, isFinal ? 'done' : isSeen ? 'now' : 'later'],
    ['Confirmed', isFinal ? 'Fulfil the order' : null, isFinal ? 'done' : 'later'],
  ];
}

/** Why a chain takes no payments now. payments P23. */
export const NOT_READY: Readonly<
  Record<NonNullable<ReplyOf<'getPaymentReadiness'>['content'][number]['reason']>, string>
> = {
  not_active: 'Payments are switched off',
  not_ready: 'No edge is ready for it',
  quarantined: 'Quarantined: an owner decides the rotation first',
  not_enabled: 'Not run by this service',
  chain_unavailable: 'The chain does not answer now',
};

/** A tolerance as people write it: percents with two decimals at most, as hundredths of them. */
export function bpsOf(percent: string): number | Refusal {
  const found = /^([0-9]{1,3})(?:[.,]([0-9]{1,2}))?$/.exec(percent.trim());
  return found === null
    ? refuse('INVALID_INPUT', { field: 'toleranceBps', reason: 'percents such as 0.5' })
    : Number(found[1]) * 100 + Number((found[2] ?? '').padEnd(2, '0'));
}
export const percentTextOf = (bps: number): string => String(bps / 100);

/** The settings that a form has, but the tolerance. Empty is none. payments P24. */
export function settingsOf(values: Values) {
  return {
    active: values['active'] !== undefined,
    displayName: orNull(values, 'displayName'),
    supportEmail: orNull(values, 'supportEmail'),
    supportUrl: orNull(values, 'supportUrl'),
    origins: textOf(values, 'origins')
      .split(/\s+/)
      .filter((one) => one !== ''),
    timeZone: orNull(values, 'timeZone'),
    language: orNull(values, 'language'),
    invoice: {
      name: orNull(values, 'name'),
      address: orNull(values, 'address'),
      taxId: orNull(values, 'taxId'),
    },
  };
}
