/**
 * Whether an event of a deposit, or of a payment that a deposit is a transfer of, may leave; of a withdrawal:
 * withdrawal-check.ts. Its id is the one of what
 * it reports. A deposit's holder is the one that the address was issued to; a payment's address is derived here, for
 * who reads "paid" of another one hands out goods for nothing (payments V9). EDGE_VERIFY_RPC_<CHAIN>: before a
 * confirmed one leaves, the customer's own node is asked for the same block and the same movement, as deep as the
 * chain's own threshold. Decisions 6.
 *
 *   event ── no deposit and no payment ────────────────────────────────▶ leaves
 *         ── a payment with another address, id, amount or environment ──▶ an alarm, and an attempt `unverified`
 *         ── not confirmed, or a chain without a node of the customer's ▶ leaves; another id or holder than it must
 * have is an alarm
 *         ── block, movement and depth as the node says too ───────────▶ leaves
 *         ── the node is behind, or away ──────────────────────────────▶ is asked again for a while, then makes way
 * without an
 *                                                                        attempt: the cloud sends it again, for ever
 *         ── the node says otherwise ──────────────────────────────────▶ an alarm, and an attempt that is recorded as
 * `unverified`
 */
import { ChainUnavailable, type Catalogue, type Network, type Transfer } from '../../chains/chain.ts';
import { eventId } from '../../protocol/node/ids.ts';
import { EVENTS, type Chain, type Environment } from '../../protocol/slugs.ts';
import { formatAmount } from '../../protocol/money.ts';
import { falseMoney, isCanonical, isRenamed } from '../answers/known.ts';
import {
  depositEnvelope,
  EVENT_CATALOGUE,
  eventEnvelope,
  paymentEnvelope,
  type DepositEnvelope,
  type PaymentEnvelope,
} from '../../protocol/schema/events.ts';
import type { IssuedAddresses } from '../answers/issued-addresses.ts';
import type { EdgeLog } from '../process/log.ts';
import { otherSpellingOf } from '../signing/other-spelling.ts';
import type { OwnAddresses } from '../signing/own-addresses.ts';
import { StorageFailed } from '../storage/failed.ts';
import { type Storage } from '../storage/storage.ts';
import { NODE_ANSWER_TIMEOUT_MS, type OwnNode, type OwnNodes } from '../signing/own-nodes.ts';
import type { Timers } from '../process/timers.ts';
import { BlockReads } from './block-reads.ts';
import { plainEvent } from './plain-event.ts';
import type { Delivery } from './post.ts';
import { falseWithdrawalEvent, renamedWithdrawal, type KnownWithdrawals } from './withdrawal-check.ts';

/** What a node said of its head, or of a height, is believed for so long: the deliveries of a moment ask it once. */
const FRESH_MS = 1_000;
/** The network of a node, and what it can, are asked for anew after so long, as the cloud's are. */
const IDENTITY_EVERY_MS = 300_000;
/**
 * A node that is behind is asked again after so long, and up to this long in all: well within the claim of a delivery.
 */
const ASK_AGAIN_MS = 3_000;
const PATIENCE_MS = 60_000;

/**
 * Why an event does not leave. `no_answer`, `not_deep_enough` and `node_fault` (what a node said cannot be read)
 * contradict nothing and are waited out; the others say that the cloud, or the customer's node, does not report the
 * truth.
 */
export type Doubt =
  | 'no_answer'
  | 'not_deep_enough'
  | 'malformed_event'
  | 'other_environment'
  | 'other_block'
  | 'no_such_movement'
  | 'other_event_id'
  | 'other_holder'
  | 'other_address'
  | 'other_amount'
  | 'other_symbol'
  | 'other_webhook_id'
  | `other_withdrawal: ${string}`
  | 'node_fault';

export interface DepositCheck {
  /** Null when a body may leave. Never rejects. */
  doubt(body: string, headers?: Readonly<Record<string, string>>): Promise<Doubt | null>;
  close(): Promise<void>;
}

/** Movements of a block by txid and output, and by the key that an earlier version gave them. */
interface Movements {
  readonly now: ReadonlyMap<string, Transfer>;
  readonly former: ReadonlyMap<string, Transfer>;
}

/** Which key each movement that has two of them was taken under, so that none is taken under the other one as well. */
export interface TakenKeys {
  /**
   * True for the first key of a movement and for the same one again; durable when it returns. Throws: StorageFailed.
   */
  takes(movement: string, outputIndex: number): boolean;
}

/**
 * Kept in the data directory: a restart must not make the other key good. A row for each internal payment that had a
 * former key.
 */
export function takenKeysIn(storage: Pick<Storage, 'one' | 'run'>): TakenKeys {
  return {
    takes(movement, outputIndex) {
      const known = () =>
        storage.one<{ output: number }>('select output_index as output from deposit_keys where movement = ?', movement);
      if (known() === null)
        storage.run('insert or ignore into deposit_keys (movement, output_index) values (?, ?)', movement, outputIndex);
      return known()!.output === outputIndex;
    },
  };
}

export interface DepositCheckParts {
  /** Null where no chain has one. */
  readonly nodes: OwnNodes | null;
  readonly environment: Environment;
  readonly keys: TakenKeys;
  /** Tokens of the registry in use. */
  readonly catalogueOf: (chain: Chain) => Catalogue;
  readonly monotonicMs: () => number;
  readonly holderOf?: IssuedAddresses['holderOf'];
  /** Whether the address of a payment is one of this edge's own. */
  readonly isLentAt: OwnAddresses['isLentAt'];
  /** What this edge asked for and signed; absent in tests of other events. */
  readonly withdrawals?: KnownWithdrawals;
  /**
   * Called for an event that leaves although it is not what it must be: no node of the customer's can say which of the
   * two is wrong. `other_symbol`: a token that the registry in use names otherwise.
   */
  readonly onDifference?: (
    reason: Doubt,
    said: {
      readonly event: string;
      readonly data: { readonly chain?: Chain | undefined; readonly txid?: string | null | undefined };
    } | null,
  ) => void;
}

/** A check over the customer's nodes, which are contacted when the first deposit of their chain comes. */
export function createDepositCheck({
  nodes,
  environment,
  keys,
  catalogueOf,
  monotonicMs,
  holderOf = async () => null,
  isLentAt,
  withdrawals,
  onDifference,
}: DepositCheckParts): DepositCheck {
  const blocks = new BlockReads<Movements | null>();
  const fresh = createFresh(monotonicMs, FRESH_MS),
    identified = createFresh(monotonicMs, IDENTITY_EVERY_MS);

  const readBlock = async ({ network, module, client }: OwnNode, { chain, height, blockHash }: Said) => {
    const block = await client.getBlock(height);
    if (block.hash !== blockHash) return null;
    const { transfers } = module.transfersIn(network, block, catalogueOf(chain));
    const former = transfers.flatMap((transfer) => {
      const outputIndex = module.formerOutputIndex?.(transfer) ?? null;
      return outputIndex === null ? [] : [[`${transfer.txid} ${outputIndex}`, transfer] as const];
    });
    return {
      now: new Map(transfers.map((transfer) => [`${transfer.txid} ${transfer.outputIndex}`, transfer])),
      former: new Map(former),
    };
  };

  /** Movements of the block that an event names, by txid and output; null when the node has another block there. */
  const movementsOf = async (node: OwnNode, data: Said) => {
    const { chain, height, blockHash } = data;
    const key = `${chain} ${height} ${blockHash}`;
    const movements = await blocks.of(chain, key, () => readBlock(node, data));
    if (movements === null) blocks.forget(key);
    // A block that was the chain's a moment ago may be none any more.
    return (await fresh(`${chain} ${height}`, () => node.client.getBlockHash(height))) === blockHash ? movements : null;
  };

  const contradiction = async ({ id, event, environment: said, data }: DepositEnvelope): Promise<Doubt | null> => {
    if (said !== environment) return 'other_environment';
    // One fact has one id (I12): under another one its receiver would take it for a second deposit. That of a simulated
    // one names a ledger.
    if (environment === 'live' && id !== eventId(data.chain, data.txid, data.outputIndex, data.incarnation, event))
      return 'other_event_id';
    // In other letters nobody would know whose it is.
    if (!isCanonical(data.chain, data.address)) return 'other_address';
    if (falseMoney(data, data, catalogueOf(data.chain)) !== null) return 'other_amount';
    const holder = await holderOf(data.chain, data.address);
    return holder !== null && (holder.userRef !== data.userRef || holder.tag !== data.tag) ? 'other_holder' : null;
  };

  /** V9: nothing of it leaves, whichever of the two is wrong: a payment that is paid elsewhere is none. */
  const paymentContradiction = async (payment: PaymentEnvelope): Promise<Doubt | null> => {
    const { id, event, environment: said, data } = payment;
    if (said !== environment) return 'other_environment';
    if (environment === 'live' && id !== eventId(data.chain, data.txid, data.outputIndex, data.incarnation, event))
      return 'other_event_id';
    if (!isLentAt(data.chain, data.derivationPath, data.address)) return 'other_address';
    if (falseMoney(data, { ...data, tokenSymbol: data.asset }, catalogueOf(data.chain)) !== null) return 'other_amount';
    // What was issued to a customer is shown to no payer: that deposit is the customer's.
    return (await holderOf(data.chain, data.address)) === null ? null : 'other_holder';
  };

  const ask = async (data: Said, own: OwnNodes): Promise<Doubt | null> => {
    const node = await own.of(data.chain);
    await identified(data.chain, () => node.client.checkIdentity());
    const head = await fresh(data.chain, () => node.client.getHead());
    if (head.height < data.height) return 'not_deep_enough';
    const movements = await movementsOf(node, data);
    if (movements === null) return 'other_block';
    const key = `${data.txid} ${data.outputIndex}`;
    // A deposit that was recorded under a former key keeps it; no movement is taken under two.
    const transfer = [movements.now.get(key), movements.former.get(key)].find(
      (one) => one !== undefined && isSaid(one, data),
    );
    if (transfer === undefined) return 'no_such_movement';
    const hasTwo = [...movements.former.values()].includes(transfer);
    if (hasTwo && !keys.takes(`${data.chain} ${data.txid} ${transfer.outputIndex}`, data.outputIndex))
      return 'no_such_movement';
    return isDeepEnough(node.network, transfer, data.height, head) ? null : 'not_deep_enough';
  };

  /** One that leaves under a symbol that its token does not have here. */
  const noteName = (event: DepositEnvelope | PaymentEnvelope, said: Said): void => {
    if (isRenamed(said, catalogueOf(said.chain))) onDifference?.('other_symbol', event);
  };

  const doubtPayment = async (payment: PaymentEnvelope): Promise<Doubt | null> => {
    const { event, data } = payment;
    const asked = ASKED_PAYMENTS.has(event) && nodes?.has(data.chain) === true ? nodes : null;
    try {
      const doubt = await paymentContradiction(payment);
      // The checkout chains have no tag of a destination.
      const said: Said = { ...data, tokenSymbol: data.asset, chainTag: null };
      const found = doubt ?? (asked === null ? null : await ask(said, asked));
      if (found === null) noteName(payment, said);
      return found;
    } catch (error) {
      return error instanceof ChainUnavailable || error instanceof StorageFailed ? 'no_answer' : 'node_fault';
    }
  };

  const doubtWithdrawal = async (body: string): Promise<Doubt | null> => {
    if (withdrawals === undefined) return null;
    try {
      const field = await falseWithdrawalEvent(body, withdrawals);
      if (field !== null) return `other_withdrawal: ${field}`;
      const renamed = renamedWithdrawal(body, withdrawals);
      if (renamed !== null) onDifference?.('other_symbol', renamed);
      return null;
    } catch (error) {
      if (error instanceof StorageFailed) return 'no_answer';
      throw error;
    }
  };

  return {
    async doubt(body, headers = {}) {
      const misread = malformedEvent(body, headers, environment);
      if (misread !== null) return misread;
      const doubtful = await doubtWithdrawal(body);
      if (doubtful !== null) return doubtful;
      const payment = paymentOf(body);
      if (payment !== null) return payment === 'malformed' ? 'malformed_event' : doubtPayment(payment);
      const event = depositOf(body);
      if (event === null) return null;
      if (event === 'malformed') {
        if (nodes !== null) return 'malformed_event';
        onDifference?.('malformed_event', null);
        return null;
      }
      const asked = event.event === 'deposit_confirmed' && nodes?.has(event.data.chain) === true ? nodes : null;
      try {
        const doubt = await contradiction(event);
        const found = doubt ?? (asked === null ? null : await ask(event.data, asked));
        if (asked !== null && found !== null) return found;
        if (found !== null) onDifference?.(found, event);
        else noteName(event, event.data);
        return null;
      } catch (error) {
        if (asked === null) return null;
        return error instanceof ChainUnavailable || error instanceof StorageFailed ? 'no_answer' : 'node_fault';
      }
    },
    close: async () => nodes?.close(),
  };
}

/** Answers that are asked for once in a while, by one caller or several; what failed is asked for anew. */
function createFresh(monotonicMs: () => number, forMs: number): <T>(key: string, read: () => Promise<T>) => Promise<T> {
  const known = new Map<string, { atMs: number; answer: Promise<unknown> }>();
  return async <T>(key: string, read: () => Promise<T>): Promise<T> => {
    for (const [old, { atMs }] of known) if (monotonicMs() - atMs >= forMs) known.delete(old);
    const entry = known.get(key) ?? { atMs: monotonicMs(), answer: read() };
    known.set(key, entry);
    try {
      return (await entry.answer) as T;
    } catch (error) {
      if (known.get(key) === entry) known.delete(key);
      throw error;
    }
  };
}

interface Around {
  readonly log: EdgeLog;
  readonly timers: Pick<Timers, 'pause'>;
  readonly monotonicMs: () => number;
  readonly isStopping: () => boolean;
}

const OTHER_ADDRESS_NEXT =
  'the address is none of this phrase: fulfil nothing for it. Of a payment from before a rotation, run `flock-edge identities add` on this EDGE_DATA_DIR and start the edge again';
const NO_CONTRADICTION: ReadonlySet<Doubt> = new Set<Doubt>(['no_answer', 'not_deep_enough', 'node_fault']);

/** What becomes of a delivery. What only time can settle is waited for, and is no alarm. Never rejects. */
export async function judgeDelivery(
  check: DepositCheck,
  { deliveryId, body, headers }: Pick<Delivery, 'deliveryId' | 'body'> & Partial<Pick<Delivery, 'headers'>>,
  { log, timers, monotonicMs, isStopping }: Around,
): Promise<'post' | 'unverified' | 'later'> {
  const untilMs = monotonicMs() + PATIENCE_MS;
  for (;;) {
    const reason = await check.doubt(body, headers);
    // A node that answered after so long has kept it beyond the claim that it came with.
    if (reason === null) return monotonicMs() < untilMs + NODE_ANSWER_TIMEOUT_MS ? 'post' : 'later';
    const unverified = alarmOf(reason, body);
    if (!NO_CONTRADICTION.has(reason)) {
      log.alarm(unverified, {
        deliveryId,
        reason,
        ...(reason === 'other_address' ? { next: OTHER_ADDRESS_NEXT } : {}),
      });
      return 'unverified';
    }
    if (isStopping()) return 'later';
    if (monotonicMs() >= untilMs) {
      if (reason === 'node_fault')
        log.alarm(unverified, {
          deliveryId,
          reason,
          next: 'compare what your node of EDGE_VERIFY_RPC_<CHAIN> answers with another one',
        });
      else log.warn(unverified, { deliveryId, reason });
      return 'later';
    }
    await timers.pause(ASK_AGAIN_MS);
  }
}

function alarmOf(reason: Doubt, body: string): string {
  if (reason === 'other_webhook_id') return 'event_unverified';
  if (reason === 'other_environment' && depositOf(body) === null && paymentOf(body) === null) return 'event_unverified';
  if (reason.startsWith('other_withdrawal')) return 'withdrawal_unverified';
  return paymentOf(body) === null ? 'deposit_unverified' : 'payment_unverified';
}

const saidOfAny = eventEnvelope.partial().omit({ event: true, data: true });

/**
 * What no event of any kind may be: under another id than its header (a receiver may go by either), under a name in
 * other letters, or without the form of an envelope. One of another environment is judged with its deposit or payment.
 */
function malformedEvent(
  body: string,
  headers: Readonly<Record<string, string>>,
  environment: Environment,
): Doubt | null {
  const parsed = plainEvent(body) as { id?: unknown; event?: unknown; environment?: unknown } | null;
  if (parsed === null) return null; // it leaves nowhere: links.ts
  const { id, event, environment: said } = parsed;
  const named = Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === 'webhook-id' ? [value] : [],
  );
  if (typeof id === 'string' && named.some((one) => one !== id)) return 'other_webhook_id';
  if (typeof event !== 'string') return null;
  if (!/^[a-z_]+$/.test(event)) return 'malformed_event';
  if (!EVENT_NAMES.has(event)) return null;
  const isJudged = DEPOSIT_EVENTS.safeParse(event).success || PAYMENT_EVENTS.safeParse(event).success;
  if (isJudged) return null;
  if (!saidOfAny.safeParse(parsed).success) return 'malformed_event';
  return said !== undefined && said !== environment ? 'other_environment' : null;
}

/**
 * The deposit that a body reports; null when it reports something else. A body that is not the plain text of
 * what it says (a key twice, another spelling of a name) could be read in another way by its receiver.
 */
function depositOf(body: string): DepositEnvelope | null | 'malformed' {
  const parsed = plainEvent(body);
  if (parsed === null) return 'malformed';
  const { event: name } = parsed as { event?: unknown };
  if (!DEPOSIT_EVENTS.safeParse(name).success) return null;
  const event = depositEnvelope.safeParse(parsed);
  return event.success && !hasOtherDepositName((parsed as { data: object }).data) ? event.data : 'malformed';
}

/** The payment that a body reports a transfer of; null when it reports something else. */
function paymentOf(body: string): PaymentEnvelope | null | 'malformed' {
  const parsed = plainEvent(body);
  if (parsed === null || !PAYMENT_EVENTS.safeParse((parsed as { event?: unknown }).event).success) return null;
  const event = paymentEnvelope.safeParse(parsed);
  return event.success && !hasOtherPaymentName((parsed as { data: object }).data) ? event.data : 'malformed';
}

/** What is said of a movement: a deposit's words, or those of the payment that it is a transfer of. */
type Said = Pick<
  DepositEnvelope['data'],
  | 'chain'
  | 'height'
  | 'blockHash'
  | 'txid'
  | 'outputIndex'
  | 'address'
  | 'amount'
  | 'amountFormatted'
  | 'decimals'
  | 'tokenContract'
  | 'tokenSymbol'
  | 'chainTag'
>;

const EVENT_NAMES: ReadonlySet<string> = new Set(EVENTS);
const PAYMENT_EVENTS = paymentEnvelope.shape.event;
/** What the customer's node is asked about. payments V9. */
const ASKED_PAYMENTS: ReadonlySet<PaymentEnvelope['event']> = new Set([
  'payment_confirmed',
  'payment_late',
  'payment_underpaid',
] as const);
const hasOtherPaymentName = otherSpellingOf(Object.keys(EVENT_CATALOGUE.payment_confirmed.data.shape));
const DEPOSIT_EVENTS = depositEnvelope.shape.event;
const hasOtherDepositName = otherSpellingOf(Object.keys(depositEnvelope.shape.data.shape));

/** The symbol is judged before (falseMoney): a registry may name a token otherwise than it was. */
function isSaid(
  transfer: Transfer,
  { address, amount, amountFormatted, decimals, tokenContract, chainTag }: Said,
): boolean {
  return (
    transfer.to === address &&
    transfer.amount.toString() === amount &&
    transfer.decimals === decimals &&
    formatAmount(transfer.amount, decimals) === amountFormatted &&
    transfer.tag === chainTag &&
    transfer.tokenContract === tokenContract
  );
}

/** By the network's rules and the customer's own threshold, whatever the event says of one. chains.md part 2. */
function isDeepEnough(
  { threshold, gate }: Network,
  transfer: Transfer,
  height: number,
  head: { readonly height: number; readonly finalizedHeight: number | null },
): boolean {
  const confirmations = head.height - height + 1;
  if (confirmations < Math.max(threshold, transfer.threshold ?? 0)) return false;
  if (gate.kind === 'depth' || (head.finalizedHeight !== null && height <= head.finalizedHeight)) return true;
  return gate.stallDepth !== null && confirmations >= gate.stallDepth;
}
