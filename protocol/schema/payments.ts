/** Payment links and the settings of payments. Spec §2.11, §4.6; payments.md parts 3 and 4. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import {
  ADDRESS_MODES,
  CHAINS,
  CHECKOUT_CHAINS,
  CLOSED_REASONS,
  DEPOSIT_STATUSES,
  INVOICE_STATUSES,
  LINK_MODES,
  LINK_STATUSES,
  PAYMENT_STATUSES,
} from '../slugs.ts';
import { between, count, decimals } from './numbers.ts';
import {
  chain,
  decimalAmount,
  freeText,
  instant,
  pageReply,
  pathId,
  pathText,
  shortText,
  tokenText,
  totpCode,
} from './values.ts';

/** Text without control characters; of several lines where it says so. */
const plain = (max: number, lines = false) =>
  shortText(max).refine((text) => !(lines ? /[^\P{Cc}\n]/u : /\p{Cc}/u).test(text), 'no control characters');

const URL_CHARS_MAX = 2_048;
/** An absolute address of the web without a user in it; plain http is for sandboxes alone. */
const webUrl = z
  .string()
  .max(URL_CHARS_MAX)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  }, 'expected an absolute https address without a user')
  .meta({ examples: ['https://shop.example/thanks'] });

const METADATA = { keys: 50, keyChars: 40, depth: 5, bytes: 4_096 };
/** What is wrong with it; null where nothing is. As deep as a body may be nested, it is looked at level by level. */
function metadataProblem(value: Readonly<Record<string, unknown>>): string | null {
  if (Object.keys(value).length > METADATA.keys) return `at most ${METADATA.keys} keys`;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > METADATA.depth) return `at most ${METADATA.depth} levels deep`;
    level = level.flatMap(Object.values).filter((one) => typeof one === 'object' && one !== null);
  }
  return new TextEncoder().encode(JSON.stringify(value)).length > METADATA.bytes
    ? `at most ${METADATA.bytes} bytes of JSON`
    : null;
}
/** What a merchant writes on a link: returned with its keys in the order given, on every webhook. payments P2. */
const metadata = z
  .record(z.string().max(METADATA.keyChars), z.unknown())
  .superRefine((value, context) => {
    const message = metadataProblem(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ examples: [{ order: '1001' }] });

const USES_MAX = 1_000_000;
const closesAt = instant.meta({ description: 'ISO 8601 with an offset, later than now, within five years' });
const maxUses = between(1, USES_MAX);

export const createLinkBody = z
  .strictObject({
    mode: z.enum(LINK_MODES),
    chain: chain.meta({ description: `a checkout chain: ${CHECKOUT_CHAINS.join(', ')}` }),
    asset: tokenText.meta({ description: 'symbol of the native coin or of a catalogued token, or its contract' }),
    amount: decimalAmount.nullish().meta({ description: 'of a fixed link, in the unit of the asset' }),
    thresholdAmount: decimalAmount
      .nullish()
      .meta({ description: 'of a donation: it closes once so much is confirmed' }),
    minAmount: decimalAmount.nullish(),
    maxAmount: decimalAmount.nullish(),
    addressMode: z.enum(ADDRESS_MODES).nullish().meta({ description: '`shared` for donations only' }),
    closesAt: closesAt.nullish(),
    maxUses: maxUses.nullish(),
    slug: shortText(200).nullish().meta({ description: 'honoured on donations only; a fixed link gets a random one' }),
    title: plain(120).nullish(),
    description: plain(1_000, true).nullish(),
    collectEmail: z.boolean().nullish(),
    successUrl: webUrl.nullish(),
    metadata: metadata.nullish(),
  })
  .refine(({ mode, amount }) => mode !== 'donation' || amount == null, {
    path: ['amount'],
    error: 'of a fixed link only',
  })
  .refine(({ mode, amount }) => mode !== 'fixed' || amount != null, {
    path: ['amount'],
    error: 'a fixed link needs it',
  })
  .refine(({ mode, addressMode }) => mode === 'donation' || addressMode !== 'shared', {
    path: ['addressMode'],
    error: 'a shared address is of donations only',
  })
  .meta({ examples: [{ mode: 'fixed', chain: 'eth', asset: 'USDC', amount: '25', title: 'Order 1001' }] });

export const changeLinkBody = z
  .strictObject({
    title: plain(120).nullish(),
    description: plain(1_000, true).nullish(),
    successUrl: webUrl.nullish(),
    collectEmail: z.boolean().nullish(),
    minAmount: decimalAmount.nullish(),
    maxAmount: decimalAmount.nullish(),
    thresholdAmount: decimalAmount.nullish(),
    closesAt: closesAt.nullish(),
    maxUses: maxUses.nullish(),
    metadata: metadata.nullish(),
  })
  .meta({ examples: [{ title: 'Order 1001, corrected' }] });

const inUnits = (description: string) => z.string().meta({ description, examples: ['25'] });
export const link = z.object({
  id: z.string(),
  url: z.string(),
  slug: z.string(),
  mode: z.enum(LINK_MODES),
  addressMode: z.enum(ADDRESS_MODES),
  chain: z.enum(CHECKOUT_CHAINS),
  asset: z.string().meta({ description: 'symbol' }),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  decimals,
  amount: inUnits('asked of a fixed link, in the unit of the asset; null on a donation').nullable(),
  thresholdAmount: inUnits('it closes once so much is confirmed').nullable(),
  minAmount: inUnits('the least of a donation').nullable(),
  maxAmount: inUnits('the most of a donation').nullable(),
  closesAt: instant.nullable(),
  maxUses: count.nullable(),
  uses: count.meta({ description: 'payments that are confirmed, detected or underpaid' }),
  title: z.string().nullable(),
  description: z.string().nullable(),
  collectEmail: z.boolean(),
  successUrl: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  status: z.enum(LINK_STATUSES),
  closedReason: z.enum(CLOSED_REASONS).nullable(),
  closedAt: instant.nullable(),
  monitorUntil: instant.nullable().meta({ description: 'until when what comes late is announced; null while open' }),
  amountRaised: inUnits('confirmed money that came in time, in the unit of the asset'),
  paymentCount: count.meta({ description: 'payments that are confirmed' }),
  address: z.string().nullable().meta({ description: 'of a shared link; null otherwise' }),
  derivationPath: z.string().nullable().meta({ description: 'of that address' }),
  createdAt: instant,
  updatedAt: instant,
});
export const linkPage = pageReply(link);
export const linkParams = z.strictObject({ id: pathId('lnk') });
export const listLinksQuery = listQuery({
  status: z.enum(LINK_STATUSES).exactOptional(),
  mode: z.enum(LINK_MODES).exactOptional(),
  chain: chain.exactOptional(),
  slug: freeText(64).exactOptional(),
});

const textOrNone = z.string().nullable();

/** What a payer may see of a link. payments S22. */
const shownLink = z.object({
  slug: z.string(),
  mode: z.enum(LINK_MODES),
  title: textOrNone,
  description: textOrNone,
});
const merchant = z.object({ name: textOrNone, supportEmail: textOrNone, supportUrl: textOrNone });
const shownAsset = {
  chain: z.enum(CHECKOUT_CHAINS),
  network: z.string().meta({ description: 'name of the network: send on this one only' }),
  asset: z.string(),
  tokenContract: textOrNone,
  decimals,
};
export const checkoutLink = z.object({
  link: shownLink,
  merchant,
  ...shownAsset,
  addressMode: z.enum(ADDRESS_MODES),
  status: z.enum(LINK_STATUSES),
  closedReason: z.enum(CLOSED_REASONS).nullable(),
  open: z.boolean().meta({ description: 'whether a payment may be opened now' }),
  amount: inUnits('asked of a fixed link').nullable(),
  minAmount: inUnits('the least of a donation').nullable(),
  maxAmount: inUnits('the most of a donation').nullable(),
  emailRequired: z.boolean(),
  address: textOrNone.meta({ description: 'of a shared link' }),
  serverTime: instant,
});
export const slugParams = z.strictObject({ slug: pathText(64) });

const amounts = {
  amount: inUnits('asked of a fixed link; announced of a donation').nullable(),
  amountDue: inUnits('the least that completes it'),
  amountPaid: inUnits('what came, confirmed or not'),
  amountConfirmed: inUnits('confirmed transfers on time'),
  amountRemaining: inUnits('what is missing'),
  amountOverpaid: inUnits('what is too much'),
  amountShort: inUnits('accepted by the tolerance of the merchant'),
};
const transfer = z.object({
  txid: z.string(),
  amount: inUnits('of this transfer'),
  confirmations: count,
  threshold: count,
  status: z.enum(DEPOSIT_STATUSES),
  late: z.boolean(),
  explorerUrl: textOrNone,
});
const notice = z.object({
  reason: z.enum(['wrong_asset', 'wrong_network']),
  chain: z.enum(CHAINS),
  asset: z.string(),
  amount: inUnits('in the unit of that asset'),
  txid: z.string(),
});
const attestation = z.object({
  v: between(1, 1),
  keyFingerprint: z.string().meta({ description: 'first 16 hex digits of SHA-256 of the key of the edge' }),
  issuedAt: instant,
  validUntil: instant,
  signature: z.string().meta({ description: 'Ed25519 over the lines of docs/payments.md, base64url' }),
});
export const session = z.object({
  id: textOrNone.meta({ description: 'the payment; null on a shared link, where each transfer becomes one' }),
  paymentId: textOrNone.meta({ description: 'the same' }),
  status: z.enum(PAYMENT_STATUSES),
  link: shownLink,
  merchant,
  ...shownAsset,
  address: z.string(),
  ...amounts,
  transfers: z.array(transfer),
  notices: z.array(notice).meta({ description: 'what came in another asset or on another network: ask the merchant' }),
  expiresAt: instant.nullable(),
  serverTime: instant,
  uri: textOrNone.meta({ description: 'opens a wallet; null where wallets would misread it: tokens, tron' }),
  attestation: attestation.nullable().meta({ description: 'the address, signed by the edge; null where it has none' }),
  successUrl: textOrNone.meta({ description: 'from `detected` on; a visit of it proves nothing' }),
});
export const sessionParams = z.strictObject({ id: pathId('pay') });

const payer = {
  email: shortText(254).nullish().meta({ description: 'where the link asks for it, and for donations' }),
  name: plain(120).nullish(),
  lang: freeText(10).nullish(),
  identityFingerprint: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'expected 16 hex digits')
    .nullish()
    .meta({ description: 'of the edge whose merchant the page names: first 16 hex digits of SHA-256 of its key' }),
};
export const openSessionBody = z.strictObject(payer).meta({ examples: [{ email: 'ada@example.com' }] });
export const donateBody = z
  .strictObject({
    ...payer,
    amount: decimalAmount.nullish().meta({ description: 'announced: it fills the QR code only' }),
  })
  .meta({ examples: [{ email: 'ada@example.com', amount: '5' }] });

/** A payment of its merchant. payments S22. */
export const payment = z.object({
  id: z.string(),
  linkId: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  chain: z.enum(CHECKOUT_CHAINS),
  asset: z.string(),
  tokenContract: textOrNone,
  decimals,
  address: z.string(),
  derivationPath: z.string(),
  addressReused: z.boolean(),
  ...amounts,
  transfers: z.array(transfer),
  notices: z.array(notice),
  customerEmail: textOrNone,
  customerName: textOrNone,
  metadata: z.record(z.string(), z.unknown()),
  invoiceId: textOrNone,
  invoiceNumber: textOrNone,
  expiresAt: instant,
  createdAt: instant,
  updatedAt: instant,
});
export const paymentPage = pageReply(payment);
export const paymentParams = z.strictObject({ id: pathId('pay') });
export const listPaymentsQuery = listQuery({
  status: z.enum(PAYMENT_STATUSES).exactOptional().meta({
    description: 'without it, payments that received something; `awaiting_payment` and `expired` only when asked for',
  }),
});

/** An invoice of its merchant; never its link. payments I8. */
export const invoice = z.object({
  id: z.string(),
  number: z.string().meta({ description: 'of its year, without a gap', examples: ['INV-2026-000001'] }),
  status: z.enum(INVOICE_STATUSES).meta({ description: '`reversed` while a reorg holds money of its payment back' }),
  linkId: z.string(),
  paymentId: z.string(),
  issuedAt: instant,
  chain: z.enum(CHECKOUT_CHAINS),
  asset: z.string(),
  tokenContract: textOrNone,
  decimals,
  amount: inUnits('asked of a fixed link; announced of a donation').nullable(),
  amountPaid: inUnits('confirmed when it was issued'),
  amountOverpaid: inUnits('what of that was too much'),
  amountShort: inUnits('accepted by the tolerance of the merchant'),
  customerEmail: z.string(),
  customerName: textOrNone,
  title: textOrNone,
  transfers: z
    .array(z.object({ txid: z.string(), amount: inUnits('of this transfer'), seenAt: instant }))
    .meta({ description: 'the first hundred' }),
});
export const invoicePage = pageReply(invoice);
export const invoiceParams = z.strictObject({ id: pathId('inv') });
export const listInvoicesQuery = listQuery({});
export const resentInvoice = z.object({
  id: z.string(),
  number: z.string(),
  url: z.string().meta({
    description: 'the page of the invoice, for who has it; every earlier one is gone',
    examples: ['https://pay.example.com/invoices/k3vqx2mfd5zt4c7ak3vqx2mfd5zt4c7a'],
  }),
});

export const NOT_READY_REASONS = [
  'not_active',
  'not_ready',
  'quarantined',
  'not_enabled',
  'chain_unavailable',
] as const;
const readiness = z.object({
  chain: z.enum(CHECKOUT_CHAINS),
  ready: z.boolean(),
  reason: z.enum(NOT_READY_REASONS).nullable(),
  asset: z.string().meta({ description: 'the native coin' }),
  nativeMinimum: inUnits('smallest native payment that is worth its sweep; null while the chain is silent').nullable(),
  estimatedSweepFee: inUnits('highest fee of bringing one transfer home; null while the chain is silent').nullable(),
  feeAsOf: instant.nullable(),
  tokens: z.array(
    z.object({ symbol: z.string(), contract: z.string(), decimals, minimum: inUnits('smallest payment') }),
  ),
  threshold: count.meta({ description: 'confirmations' }),
  unpaidAddresses: z.object({
    open: count.meta({ description: 'lent addresses of the family that never received' }),
    resting: count.meta({
      description: 'those of them that nobody holds now: they rest, and are lent on; counted to 10,000',
    }),
    limit: count,
  }),
  gapLimitNeeded: count.nullable().meta({
    description:
      'gap limit of a wallet that is restored from the phrase and finds every address of the family that received: the longest run of issued addresses without a transfer, and 20. Null until an account with more than 1,000 of them is counted for the first time, within a day',
    examples: [34],
  }),
  gapLimitAsOf: instant
    .nullable()
    .meta({ description: 'when it was counted; an account with more than 1,000 addresses of a family, daily' }),
  attestationsAhead: count,
});
export const readinessPage = pageReply(readiness);

const ORIGINS_MAX = 50;
const TOLERANCE_BPS_MAX = 500;
const origin = z
  .string()
  .max(300)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, origin: exact } = new URL(text);
    return exact === text && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'));
  }, 'expected an exact origin such as https://shop.example; in sandbox http://localhost:port too');
const email = z
  .string()
  .max(254)
  .regex(/^[^\s\p{Cc}@]{1,64}@[^\s\p{Cc}@]+\.[^\s\p{Cc}@]+$/u, 'expected an e-mail address');
const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== null;
  } catch {
    return false;
  }
};

const invoiceSettings = {
  name: plain(200).nullish(),
  address: plain(500, true).nullish(),
  taxId: plain(100).nullish(),
};
export const paymentSettingsBody = z
  .strictObject({
    active: z.boolean(),
    displayName: plain(120).min(1).nullish(),
    supportEmail: email.nullish(),
    supportUrl: webUrl.nullish(),
    origins: z.array(origin).max(ORIGINS_MAX).nullish(),
    toleranceBps: between(0, TOLERANCE_BPS_MAX).nullish(),
    timeZone: freeText(64).refine(isZone, 'expected a time zone of IANA').nullish(),
    language: freeText(10)
      .regex(/^[a-z]{2}(-[A-Za-z]{2,4})?$/, 'expected a language such as en')
      .nullish(),
    invoice: z.strictObject(invoiceSettings).nullish(),
    totp: totpCode.optional(),
  })
  .meta({ examples: [{ active: true, displayName: 'Ada & Co', supportEmail: 'help@shop.example' }] });

export const paymentSettings = z.object({
  active: z.boolean(),
  displayName: textOrNone.meta({ description: 'what payers see; needed to be active' }),
  supportEmail: textOrNone,
  supportUrl: textOrNone,
  origins: z.array(z.string()).meta({ description: 'pages that may embed a checkout' }),
  toleranceBps: between(0, TOLERANCE_BPS_MAX).meta({ description: 'how short a fixed payment may be, of 10,000' }),
  timeZone: z.string(),
  language: z.string(),
  invoice: z.object({ name: textOrNone, address: textOrNone, taxId: textOrNone }),
});
