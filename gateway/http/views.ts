/** Rows as the wire shows them. Amounts may be `bigint` or, out of a stored answer, their text. */
import type { AccountState } from '../../model/account/capabilities.ts';
import { pathOf } from '../../actors/edge-link/retired-identities.ts';
import type { FeeEstimate, Network } from '../../chains/chain.ts';
import { networkOf } from '../../chains/registry.ts';
import type { DeliveryView } from '../../model/ports/read-store.ts';
import type { TransactionView } from '../../model/ports/transaction-view.ts';
import type { SessionRow } from '../../model/ports/edge-store.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { WebhookRow } from '../../model/rows/webhook.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { Page, PageAsk } from '../../protocol/page.ts';
import { pageAskOf, type ListName } from '../../protocol/cursor.ts';
export { chainPlace, wholePage } from '../../protocol/cursor.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { VERSION_PLACES } from '../../protocol/schema/transactions.ts';
import type { Chain } from '../../protocol/slugs.ts';

export const instantOf = (atMs: number): string => new Date(atMs).toISOString();
export const instantOrNull = (atMs: number | null): string | null => (atMs === null ? null : instantOf(atMs));

/** `amount`, `amountFormatted`, `decimals`. */
export function moneyOf(amount: bigint | string, decimals: number) {
  return { amount: String(amount), amountFormatted: formatAmount(BigInt(amount), decimals), decimals };
}

/** The rows of a page as views. */
export function pageAs<Row, View>(page: Page<Row>, view: (row: Row) => View): Page<View> {
  return { ...page, content: page.content.map(view) };
}

/** Filters and page of a list's query. Refuses: INVALID_INPUT for a cursor of another list. */
export function listAskOf<Q extends { page?: number; size: number; after?: string }>(
  list: ListName,
  query: Q,
): { filter: Omit<Q, 'page' | 'size' | 'after'>; page: PageAsk } | Refusal {
  const { page: _page, size: _size, after: _after, ...filter } = query;
  const page = pageAskOf(list, query);
  return isRefusal(page) ? page : { filter, page };
}

/** A public page about a transaction; in sandbox, whose ledgers no explorer has heard of, one of our own. Spec §4.2. */
export function explorerUrlOf(origin: string, accountId: AccountId, chain: Chain, txid: string | null): string | null {
  if (txid === null) return null;
  if (environmentOf(accountId) === 'sandbox') return `${origin}/sandbox/explorer/${chain}/${encodeURIComponent(txid)}`;
  return networkOf(chain).explorer.tx.replace('{id}', txid);
}

/** What is stored as the path of an address that nobody has a key for. Migration M-X1. */
const NO_KEY = '[]';

/**
 * `state` is the account's: it knows which identities are retired. `isSpendable` is asked of adopted addresses alone.
 */
export function addressView(
  state: Pick<AccountState, 'retired'>,
  row: AddressRow,
  isSpendable: (row: AddressRow) => boolean,
): ReplyOf<'getAddress'> {
  const { firstDepositMin } = networkOf(row.chain);
  return {
    id: row.id,
    chain: row.chain,
    address: row.address,
    derivationPath: row.derivationPath === NO_KEY ? null : pathOf(state, row),
    environment: environmentOf(row.accountId),
    userRef: row.userRef,
    tag: row.tag,
    label: row.label,
    status: row.status,
    ...(firstDepositMin === undefined ? {} : { reserveDrops: String(firstDepositMin) }),
    createdAt: instantOf(row.createdAtMs),
    ...(row.project === undefined
      ? {}
      : {
          projectId: row.project.id,
          batchId: row.batchId!,
          mode: row.project.mode,
          spendable: isSpendable(row),
        }),
  };
}

/** Where a version is, as far as nodes and blocks have shown. Versions of one withdrawal exclude each other. */
function placeOf({ versions, txid, height, status }: TransactionView, index: number): (typeof VERSION_PLACES)[number] {
  const version = versions[index]!;
  if (height !== null) return version.txid === txid ? 'block' : 'replaced';
  // Rows from before it was kept: a broadcast is all that they show.
  const inNode = (one: typeof version) => one.taken ?? status === 'broadcast';
  if (versions.slice(index + 1).some(inNode)) return 'replaced';
  return inNode(version) ? 'node' : version.doubtful === true ? 'submitted' : 'signed';
}

/** `origin` is where clients reach this cloud. */
export function transactionView(origin: string, accountId: AccountId, row: TransactionView): ReplyOf<'getTransaction'> {
  return {
    ...moneyOf(row.amount, row.decimals),
    id: row.id,
    direction: row.direction,
    kind: row.kind,
    role: row.role,
    operationId: row.operationId,
    chain: row.chain,
    environment: environmentOf(accountId),
    status: row.status,
    txid: row.txid,
    outputIndex: row.outputIndex,
    address: row.address,
    counterparty: row.counterparty,
    tokenContract: row.tokenContract,
    tokenSymbol: row.tokenSymbol,
    userRef: row.userRef,
    tag: row.tag,
    chainTag: row.chainTag,
    height: row.height,
    blockHash: row.blockHash,
    confirmations: row.confirmations,
    threshold: row.threshold,
    incarnation: row.incarnation,
    fee: row.fee === null ? null : String(row.fee),
    failure: row.failure,
    versions: row.versions.map(({ txid }, index) => ({ txid, at: placeOf(row, index) })),
    explorerUrl: explorerUrlOf(origin, accountId, row.chain, row.txid),
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
  };
}

/** A built withdrawal; without an estimate of its own the payload's fee is the estimate. */
export function builtView(row: WithdrawalRow & { feeEstimate?: FeeEstimate }): ReplyOf<'buildTransaction'> {
  const { unsigned, feeEstimate } = row;
  return {
    ...moneyOf(unsigned.amount, row.decimals),
    id: row.id,
    chain: row.chain,
    status: row.status,
    from: row.from,
    to: row.to,
    tokenContract: row.tokenContract,
    tokenSymbol: row.tokenSymbol,
    chainTag: unsigned.tag,
    feeEstimate: {
      fee: String(feeEstimate?.fee ?? unsigned.feeMax),
      feeMax: String(feeEstimate?.feeMax ?? unsigned.feeMax),
      parts: { ...(feeEstimate?.parts ?? unsigned.fee) },
    },
    unsigned: {
      ...unsigned,
      amount: String(unsigned.amount),
      feeMax: String(unsigned.feeMax),
      fee: { ...unsigned.fee },
      replayKey: unsigned.replayKey as ReplyOf<'buildTransaction'>['unsigned']['replayKey'],
    },
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
  };
}

export function webhookView(row: WebhookRow): ReplyOf<'getWebhook'> {
  return {
    id: row.id,
    url: row.url,
    events: [...row.events],
    status: row.status,
    secretPreview: row.secretPreview,
    rotating: row.sealedSecrets.length > 1,
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
  };
}

export function deliveryView(row: DeliveryView): ReplyOf<'listDeliveries'>['content'][number] {
  return {
    id: row.id,
    eventId: row.eventId,
    event: row.event as ReplyOf<'listDeliveries'>['content'][number]['event'],
    webhookId: row.webhookId,
    url: row.url,
    replay: row.replay,
    status: row.status,
    heldReason: row.heldReason,
    nextAttemptAt: instantOrNull(row.nextAttemptAtMs),
    createdAt: instantOf(row.createdAtMs),
    attempts: row.attempts.map(({ attempt, statusCode, durationMs, error, atMs }) => ({
      attempt,
      statusCode,
      durationMs,
      error,
      at: instantOf(atMs),
    })),
  };
}

export function sessionView(row: SessionRow): ReplyOf<'listEdgeSessions'>['content'][number] {
  return {
    id: row.id,
    role: row.role,
    edgeVersion: row.edgeVersion,
    liveness: row.liveness,
    leaseEpoch: row.leaseEpoch,
    outboxMode: row.outboxMode,
    outboxDepth: row.outboxDepth,
    outboxPoisoned: row.outboxPoisoned,
    registryVersion: row.treasury?.registryVersion ?? null,
    podHint: row.podHint,
    lastHeartbeatAt: instantOf(row.lastHeartbeatAtMs),
    startedAt: instantOf(row.startedAtMs),
    endedAt: instantOrNull(row.endedAtMs),
  };
}

/** A fee in the smallest native unit, with its display text. */
export function feeView(network: Network, { fee, feeMax, parts }: FeeEstimate): ReplyOf<'getFees'> {
  return {
    chain: network.slug,
    symbol: network.nativeSymbol,
    decimals: network.nativeDecimals,
    fee: String(fee),
    feeFormatted: formatAmount(fee, network.nativeDecimals),
    feeMax: String(feeMax),
    feeMaxFormatted: formatAmount(feeMax, network.nativeDecimals),
    parts: { ...parts },
  };
}
