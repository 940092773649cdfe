/** Search over one account, and one event as it was signed. Console C16, C17. */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { invoiceNumberOf } from '../../actors/payment/invoices.ts';
import { invoiceStatusOf } from './payment/invoices.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { isId, type AccountId } from '../../protocol/ids.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { PAGE_SIZE_MAX } from '../../protocol/page.ts';
import { CHAINS } from '../../protocol/slugs.ts';
import { accountOf, unknownIn, type Handlers } from './context.ts';
import type { HandlerDeps } from './surroundings.ts';
import { deliveryView, instantOf } from './views.ts';

const HITS_MAX = 20;

type Hit = ReplyOf<'search'>['content'][number];

export function findHandlers({
  stores,
}: Pick<HandlerDeps, 'stores'>): Pick<Handlers, 'search' | 'listEvents' | 'getEvent'> {
  const { find, reads } = stores;
  return {
    async search(asked) {
      const accountId = accountOf(asked),
        { q = '', txid = '' } = asked.query;
      const named = await byId(stores, accountId, q);
      if (named !== null) return { content: [named] };
      const found = await find.find(
        accountId,
        { addresses: addressesIn(q), txids: txidsIn(txid === '' ? q : txid), userRef: q, label: q },
        HITS_MAX,
      );
      return { content: found.map(({ createdAtMs, ...hit }) => ({ ...hit, createdAt: instantOf(createdAtMs) })) };
    },
    async listEvents(asked) {
      const accountId = accountOf(asked),
        { since, size } = asked.query;
      const found = await find.events(accountId, size + 1, since === 'start' ? null : since);
      if (found === null) return unknownIn(asked, 'event', since!);
      // The newest ones are a whole: one more is before them, not behind.
      const content = since === undefined ? found.slice(-size) : found.slice(0, size);
      return {
        content: content.map(({ id, event, body, createdAtMs }) => ({
          id,
          event: event as ReplyOf<'getEvent'>['event'],
          createdAt: instantOf(createdAtMs),
          body,
        })),
        hasMore: since !== undefined && found.length > size,
      };
    },
    async getEvent(asked) {
      const accountId = accountOf(asked),
        { id } = asked.params;
      const published = await find.event(accountId, id);
      if (published === null) return unknownIn(asked, 'event', id);
      const { content } = await reads.deliveries(accountId, { eventId: id }, { page: 0, size: PAGE_SIZE_MAX });
      return {
        id,
        event: published.event as ReplyOf<'getEvent'>['event'],
        createdAt: instantOf(published.createdAtMs),
        body: published.body,
        deliveries: content.map(deliveryView),
      };
    },
  };
}

/** What an id names; null for any other text, and for an id of somebody else. */
async function byId({ find, reads }: HandlerDeps['stores'], accountId: AccountId, id: string): Promise<Hit | null> {
  const hit = (kind: Hit['kind'], text: string, createdAtMs: number, more: Partial<Hit> = {}): Hit => ({
    kind,
    id,
    chain: null,
    status: null,
    text,
    userRef: null,
    label: null,
    createdAt: instantOf(createdAtMs),
    ...more,
  });
  if (isId('adr', id)) {
    const row = await reads.address(accountId, id);
    if (row === null) return null;
    const { chain, status, userRef, label } = row;
    return hit('address', row.address, row.createdAtMs, { chain, status, userRef, label });
  }
  if (isId('dep', id) || isId('txn', id)) {
    const row = await reads.transaction(accountId, id);
    if (row === null) return null;
    const { chain, status, userRef, direction } = row;
    const kind = direction === 'in' ? 'deposit' : 'withdrawal';
    return hit(kind, row.txid ?? row.address, row.createdAtMs, { chain, status, userRef });
  }
  if (isId('dlv', id)) {
    const row = await reads.delivery(accountId, id);
    return row === null ? null : hit('delivery', row.event, row.createdAtMs, { status: row.status });
  }
  if (isId('lnk', id)) {
    const row = await reads.paymentLink(accountId, id);
    return row === null
      ? null
      : hit('paymentLink', row.slug, row.createdAtMs, { chain: row.chain, status: row.status, label: row.title });
  }
  if (isId('pay', id)) {
    const row = await reads.payment(accountId, id);
    if (row === null) return null;
    return hit('payment', row.address, row.openedAtMs, { status: row.status });
  }
  if (isId('inv', id)) {
    const row = await reads.invoice(accountId, id);
    if (row === null) return null;
    const { chain, issuedAtMs, title } = row;
    return hit('invoice', invoiceNumberOf(row), issuedAtMs, { chain, status: invoiceStatusOf(row), label: title });
  }
  if (!/^evt_[a-z2-7]{26}$/.test(id)) return null;
  const row = await find.event(accountId, id);
  return row === null ? null : hit('event', row.event, row.createdAtMs);
}

/** The text as every chain would write it, where it is an address there. */
function addressesIn(text: string): string[] {
  const canonical = CHAINS.flatMap((chain) => {
    const parsed = factsOf(chain).parseAddress(networkOf(chain), text);
    return isRefusal(parsed) ? [] : [parsed.canonical];
  });
  return [...new Set(canonical)];
}

/** Ids of transactions are hex in either case, with or without 0x, or base58. */
function txidsIn(text: string): string[] {
  const bare = text.replace(/^0x/i, '');
  if (!/^[0-9a-f]{64}$/i.test(bare)) return [text];
  const [lower, upper] = [bare.toLowerCase(), bare.toUpperCase()];
  return [`0x${lower}`, lower, upper];
}
