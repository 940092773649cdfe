/**
 * Payment links: what was asked, and an address only where this edge derives it. A cloud that names an address of its
 * own would otherwise be paid by the merchant's payers. payments P25.
 */
import { networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import { formatAmount, parseDecimal } from '../../protocol/money.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, isSymbolOfAnother, type Ask, type Known } from './known.ts';

type LinkJson = ReplyOf<'getPaymentLink'>;

/** Metadata as it was sent. */
const sameMetadata = (said: unknown, sent: unknown): boolean => JSON.stringify(said) === JSON.stringify(sent ?? {});

/** A link: its id, its asset under no other one's symbol, and its address. */
export function falseLink(row: LinkJson, { params }: Ask, known: Known): string | null {
  const { id, slug, url, chain, asset, tokenContract, decimals } = row;
  const catalogue = known.catalogueOf(chain);
  const listed = tokenContract === null ? networkOf(chain).nativeDecimals : catalogue.get(tokenContract)?.decimals;
  return (
    firstFalse(
      ['id', isId('lnk', id) && (params['id'] === undefined || id === params['id'])],
      ['url', url.endsWith(`/pay/${slug}`)],
      ['asset', !isSymbolOfAnother({ chain, tokenContract, tokenSymbol: asset }, catalogue)],
      ['decimals', listed === undefined || listed === decimals],
    ) ?? falseLentAddress(row, known)
  );
}

/** An address of a link is a customer's address of this edge's own phrase. */
export function falseLentAddress(
  { chain, address, derivationPath }: Pick<LinkJson, 'chain' | 'address' | 'derivationPath'>,
  { own }: Known,
): string | null {
  if (address === null) return firstFalse(['derivationPath', derivationPath === null]);
  return firstFalse(
    [
      'derivationPath',
      derivationPath !== null && derivationPath.startsWith('m/') && own.depositPosition(chain, derivationPath) !== null,
    ],
    ['address', derivationPath !== null && own.addressAt(chain, derivationPath) === address],
  );
}

const AMOUNTS = ['amount', 'thresholdAmount', 'minAmount', 'maxAmount'] as const;

const instantOf = (text: unknown): number | null => (typeof text === 'string' ? Date.parse(text) : null);

/** An amount as it comes back: without zeros at its end. */
const asAnswered = (text: unknown, decimals: number): string | null => {
  if (typeof text !== 'string') return null;
  const amount = parseDecimal(text, decimals);
  return isRefusal(amount) ? null : formatAmount(amount, decimals);
};

/** A new link, as it was asked for. */
export function falseNewLink(row: LinkJson, ask: Ask, known: Known): string | null {
  const { body } = ask;
  const listed = row.tokenContract === null ? undefined : known.catalogueOf(row.chain).get(row.tokenContract);
  return (
    falseLink(row, ask, known) ??
    firstFalse(
      // It is made now: its token is called as it is called now.
      ['asset', listed === undefined || listed.symbol === row.asset],
      ['mode', row.mode === body['mode']],
      ['chain', row.chain === body['chain']],
      [
        'asset',
        row.asset === body['asset'] || String(row.tokenContract).toLowerCase() === String(body['asset']).toLowerCase(),
      ],
      ...AMOUNTS.map((field) => [field, row[field] === asAnswered(body[field], row.decimals)] as const),
      ['addressMode', row.addressMode === (body['addressMode'] ?? 'per_payer')],
      ['address', (row.address !== null) === (row.addressMode === 'shared')],
      ['status', row.status === 'active'],
      ['tokenContract', row.tokenContract === null || row.tokenContract === body['asset'] || listed !== undefined],
      ['closesAt', (row.closesAt === null ? null : Date.parse(row.closesAt)) === instantOf(body['closesAt'])],
      ['maxUses', row.maxUses === (body['maxUses'] ?? null)],
      ['title', row.title === (body['title'] ?? null)],
      ['description', row.description === (body['description'] ?? null)],
      ['collectEmail', row.collectEmail === (body['collectEmail'] ?? false)],
      ['successUrl', row.successUrl === (body['successUrl'] ?? null)],
      ['metadata', sameMetadata(row.metadata, body['metadata'])],
    )
  );
}

/** A changed link: the fields that were sent are as they were sent. */
export function falseChangedLink(row: LinkJson, ask: Ask, known: Known): string | null {
  const { body } = ask;
  const sent = (field: string, holds: boolean) => [field, body[field] === undefined || holds] as const;
  return (
    falseLink(row, ask, known) ??
    firstFalse(
      sent('title', row.title === body['title']),
      sent('description', row.description === body['description']),
      sent('successUrl', row.successUrl === body['successUrl']),
      sent('metadata', sameMetadata(row.metadata, body['metadata'])),
      ...(['thresholdAmount', 'minAmount', 'maxAmount'] as const).map((field) =>
        sent(field, row[field] === asAnswered(body[field], row.decimals)),
      ),
    )
  );
}

/** Fields of a link that are the cloud's word. */
export const LINK_WORD = [
  'mode',
  'addressMode',
  'chain',
  'tokenContract',
  'amount',
  'thresholdAmount',
  'minAmount',
  'maxAmount',
  'closesAt',
  'maxUses',
  'uses',
  'title',
  'description',
  'collectEmail',
  'successUrl',
  'metadata',
  'metadata.*',
  'status',
  'closedReason',
  'closedAt',
  'monitorUntil',
  'amountRaised',
  'paymentCount',
  'createdAt',
  'updatedAt',
] as const;

/** The same without those that a rule checks. */
const linkWordBut = (...checked: readonly string[]): string[] =>
  LINK_WORD.filter((field) => !checked.includes(field) && !checked.includes(field.replace(/\.\*$/, '')));

/** A link that was brought into a status. */
export const linkIn = (status: LinkJson['status']) => ({
  falseField: (row: LinkJson, ask: Ask, known: Known): string | null =>
    firstFalse(['status', row.status === status]) ?? falseLink(row, ask, known),
  word: linkWordBut('status'),
});

type PaymentJson = ReplyOf<'listLinkPayments'>['content'][number];

/**
 * A payment: the link that was asked for, and an address of this edge's own phrase, or of one that it had when the
 * payment was opened. P25.
 */
const falseLinkPayment = (row: PaymentJson, ask: Ask, known: Known): string | null =>
  firstFalse(['linkId', row.linkId === ask.params['id']]) ?? falseListedPayment(row, ask, known);

function falseListedPayment(row: PaymentJson, _ask: Ask, { own }: Known): string | null {
  const { id, linkId, chain, derivationPath, address } = row;
  return firstFalse(
    ['id', isId('pay', id)],
    ['linkId', isId('lnk', linkId)],
    ['address', own.isLentAt(chain, derivationPath, address)],
  );
}

const falsePayment = (row: PaymentJson, ask: Ask, known: Known): string | null =>
  firstFalse(['id', row.id === ask.params['id']]) ?? falseListedPayment(row, ask, known);

const AMOUNT_WORD = ['amount', 'amountDue', 'amountPaid', 'amountConfirmed', 'amountRemaining', 'amountOverpaid'];
/** Fields of a payment that are the cloud's word. */
const PAYMENT_WORD: readonly string[] = [
  ...AMOUNT_WORD,
  'amountShort',
  'status',
  'chain',
  'asset',
  'tokenContract',
  'decimals',
  'addressReused',
  'transfers',
  'transfers.*',
  ...['txid', 'amount', 'confirmations', 'threshold', 'status', 'late', 'explorerUrl'].map(
    (field) => `transfers.*.${field}`,
  ),
  'notices',
  'notices.*',
  ...['reason', 'chain', 'asset', 'amount', 'txid'].map((field) => `notices.*.${field}`),
  'customerEmail',
  'customerName',
  'metadata',
  'metadata.*',
  'invoiceId',
  'invoiceNumber',
  'expiresAt',
  'createdAt',
  'updatedAt',
];

export const PAYMENT_RULES = {
  listLinkPayments: { falseField: falseLinkPayment, word: PAYMENT_WORD },
  listPayments: { falseField: falseListedPayment, word: PAYMENT_WORD },
  getPayment: { falseField: falsePayment, word: PAYMENT_WORD },
} as const;

/** What a chain costs, and what is open: the cloud's word. */
export const READINESS_WORD: readonly string[] = [
  'chain',
  'ready',
  'reason',
  'asset',
  'nativeMinimum',
  'estimatedSweepFee',
  'feeAsOf',
  'tokens',
  'tokens.*',
  ...['symbol', 'contract', 'decimals', 'minimum'].map((field) => `tokens.*.${field}`),
  'threshold',
  'unpaidAddresses',
  'unpaidAddresses.open',
  'unpaidAddresses.resting',
  'unpaidAddresses.limit',
  'gapLimitNeeded',
  'gapLimitAsOf',
  'attestationsAhead',
];
