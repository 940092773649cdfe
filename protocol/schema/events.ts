/**
 * The event catalogue: for every webhook event the schema of its `data`, an example and when it is sent. Spec §6,
 * decisions 4. Receivers may see fields that are not named here; they never miss one that is.
 */
import { z } from 'zod';
import { bridge, bridgeExample, sweep, sweepExample } from './treasury-events.ts';
import {
  CHAINS,
  CLOSED_REASONS,
  DEPOSIT_STATUSES,
  ENVIRONMENTS,
  EVENTS,
  LINK_MODES,
  PAYMENT_STATUSES,
  POOLED_CHAINS,
  UNMATCHED_REASONS,
  type EventName,
} from '../slugs.ts';
import { instant, money, replyAmount } from './values.ts';
import { count, height, outputIndex, serial } from './numbers.ts';

export interface EventEntry<T extends z.ZodType = z.ZodType> {
  readonly data: T;
  readonly when: string;
  readonly example: Readonly<z.output<T>>;
}

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const TXID = `0x${'5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060'}`;
const BLOCK_HASH = `0x${'88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6'}`;

const deposit = money.extend({
  depositId: z.string(),
  chain: z.enum(CHAINS),
  txid: z.string(),
  outputIndex: outputIndex.meta({
    description: 'with txid, the key to credit by; signed: below zero for native payments of EVM chains',
  }),
  address: z.string(),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  tokenSymbol: z.string(),
  userRef: z.string().nullable().meta({ description: "the address's; null for an own address, as of a treasury" }),
  tag: z.string().nullable().meta({ description: "the address's; null where none was given" }),
  chainTag: z
    .string()
    .nullable()
    .meta({ description: 'destination tag or memo of the chain; null where there is none' }),
  height,
  blockHash: z.string(),
  incarnation: serial.meta({ description: 'rises when a reversed deposit comes back' }),
  paymentId: z
    .string()
    .nullable()
    .meta({ description: 'the checkout payment that it is a transfer of; null on others' }),
  linkId: z.string().nullable().meta({ description: 'the payment link that its address was lent to; null on others' }),
});
const depositExample = {
  depositId: 'dep_24pgoiqkv6buxq5cnqlkjmhx4e',
  chain: 'eth',
  txid: TXID,
  outputIndex: 0,
  address: ADDRESS,
  amount: '1500000',
  amountFormatted: '1.5',
  decimals: 6,
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  tokenSymbol: 'USDC',
  userRef: 'customer-42',
  tag: 'deposits',
  chainTag: null,
  height: 23_000_000,
  blockHash: BLOCK_HASH,
  incarnation: 1,
  paymentId: null,
  linkId: null,
} satisfies z.output<typeof deposit>;

const withdrawal = money.extend({
  transactionId: z.string(),
  chain: z.enum(CHAINS),
  txid: z.string().nullable().meta({ description: 'null where no version was signed' }),
  from: z.string(),
  to: z.string(),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  tokenSymbol: z.string(),
  userRef: z.string().nullable().meta({ description: "the address's; null for an own address, as of a treasury" }),
  tag: z.string().nullable().meta({ description: "the address's; null where none was given" }),
  chainTag: z
    .string()
    .nullable()
    .meta({ description: 'destination tag or memo of the chain; null where there is none' }),
  height: height.nullable().meta({ description: 'null while it is in no block' }),
  blockHash: z.string().nullable().meta({ description: 'null while it is in no block' }),
  fee: replyAmount
    .nullable()
    .meta({ description: 'smallest native unit, as the block says; null while it is in no block' }),
  failure: z.object({ code: z.string(), reason: z.string() }).nullable().meta({ description: 'null unless it failed' }),
});
const withdrawalExample = {
  transactionId: 'txn_24pgoiqq3mkqkhynxqa46gacki',
  chain: 'eth',
  txid: TXID,
  from: ADDRESS,
  to: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  amount: '1000000',
  amountFormatted: '1',
  decimals: 6,
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  tokenSymbol: 'USDC',
  userRef: 'customer-42',
  tag: 'deposits',
  chainTag: null,
  height: null,
  blockHash: null,
  fee: null,
  failure: null,
} satisfies z.output<typeof withdrawal>;

const decimal = (description: string) =>
  z.string().meta({ description: `${description}; decimal in the asset's unit` });

/** payments V3: every field is always present, null where there is nothing to say. */
const payment = money.extend({
  paymentId: z.string(),
  linkId: z.string(),
  createdVia: z.literal('link'),
  mode: z.enum(LINK_MODES),
  status: z.enum(PAYMENT_STATUSES),
  chain: z.enum(CHAINS).meta({ description: 'the network that the transfer came on' }),
  asset: z.string(),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  address: z.string(),
  derivationPath: z.string(),
  txid: z.string(),
  outputIndex,
  depositId: z.string(),
  incarnation: serial.meta({ description: 'rises when a reversed deposit comes back' }),
  height,
  blockHash: z.string(),
  amountDue: decimal('the least that completes the payment'),
  amountPaid: decimal('transfers that were seen, late ones too'),
  amountConfirmed: decimal('confirmed transfers on time'),
  amountRemaining: decimal('what is still missing'),
  amountOverpaid: decimal('what was paid too much'),
  amountShort: decimal('what the tolerance of the account forgave'),
  late: z.boolean().meta({ description: 'the transfer came after the link was closed' }),
  addressReused: z.boolean().meta({ description: 'the address had been lent to another payment before' }),
  invoiceNumber: z.string().nullable(),
  customerEmail: z.string().nullable(),
  customerName: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).meta({ description: "the link's" }),
});
const paymentExample = {
  paymentId: 'pay_24pgoiqsx6vqvnqeqxvdh5ggkm',
  linkId: 'lnk_24pgoiqr6nmqzhfhdbnl2qzxyu',
  createdVia: 'link',
  mode: 'fixed',
  status: 'confirmed',
  chain: 'eth',
  asset: 'USDC',
  tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  address: ADDRESS,
  derivationPath: "m/44'/60'/0'/0/17",
  txid: TXID,
  outputIndex: 0,
  depositId: 'dep_24pgoiqkv6buxq5cnqlkjmhx4e',
  incarnation: 1,
  height: 23_000_000,
  blockHash: BLOCK_HASH,
  amount: '25000000',
  amountFormatted: '25',
  decimals: 6,
  amountDue: '25',
  amountPaid: '25',
  amountConfirmed: '25',
  amountRemaining: '0',
  amountOverpaid: '0',
  amountShort: '0',
  late: false,
  addressReused: false,
  invoiceNumber: null,
  customerEmail: 'ada@example.com',
  customerName: null,
  metadata: { order: '1001' },
} satisfies z.output<typeof payment>;
/** On a shared link a transfer of another asset or network is of no payment. */
const strayed = payment.extend({
  paymentId: z.string().nullable(),
  status: z.enum(PAYMENT_STATUSES).nullable(),
});
const unmatched = strayed.extend({
  reason: z.enum(UNMATCHED_REASONS),
  expected: z.object({ chain: z.enum(CHAINS), asset: z.string(), tokenContract: z.string().nullable() }),
});

const link = z.object({
  linkId: z.string(),
  slug: z.string(),
  url: z.string(),
  mode: z.enum(LINK_MODES),
  chain: z.enum(CHAINS),
  asset: z.string(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
});
const linkExample = {
  linkId: 'lnk_24pgoiqr6nmqzhfhdbnl2qzxyu',
  slug: 'k3vqx2mfd5zt4c7a',
  url: 'https://pay.example.com/pay/k3vqx2mfd5zt4c7a',
  mode: 'fixed',
  chain: 'eth',
  asset: 'USDC',
  title: 'Order 1001',
  metadata: { order: '1001' },
} satisfies z.output<typeof link>;

const edge = z.object({ liveness: z.enum(['live', 'down']) });
const lowTank = z.object({
  fundingWalletId: z.string(),
  chain: z.enum(CHAINS),
  address: z.string().meta({ description: 'the gas tank' }),
  available: z.string().meta({ description: "smallest native unit, less the chain's reserve and what is promised" }),
  lowBalance: z.string().meta({ description: 'smallest native unit, below which it is low' }),
  estimatedSweepsRemaining: count.nullable().meta({ description: 'at the fees of then; null where none is needed' }),
});

const entry = <T extends z.ZodType>(data: T, when: string, example: EventEntry<T>['example']): EventEntry<T> => ({
  data,
  when,
  example,
});

export const EVENT_CATALOGUE = {
  deposit_detected: entry(
    deposit,
    'A deposit has its first confirmation. Show it as pending; do not credit.',
    depositExample,
  ),
  deposit_confirmed: entry(
    deposit,
    "A deposit reached the chain's threshold. Credit by txid and outputIndex; a higher incarnation credits anew what " +
      'was reversed.',
    depositExample,
  ),
  deposit_reversed: entry(
    deposit.extend({ reversedFrom: z.enum(DEPOSIT_STATUSES), depth: count }),
    'A deposit that was seen or confirmed left the chain in a reorg.',
    { ...depositExample, reversedFrom: 'detected', depth: 2 },
  ),
  address_activated: entry(deposit, 'The first payment created the ledger account of an XRP or Stellar address.', {
    ...depositExample,
    chain: 'xrp',
    txid: TXID.slice(2).toUpperCase(),
    address: 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe',
    amount: '25000000',
    amountFormatted: '25',
    tokenContract: null,
    tokenSymbol: 'XRP',
    blockHash: BLOCK_HASH.slice(2).toUpperCase(),
  }),
  withdrawal_broadcast: entry(withdrawal, 'A signed withdrawal was handed to the chain.', withdrawalExample),
  withdrawal_confirmed: entry(
    withdrawal,
    "A withdrawal reached the chain's threshold. Sent again only when a reorg took that transaction out and another version of the withdrawal, with another txid, is confirmed in its place.",
    {
      ...withdrawalExample,
      height: 23_000_012,
      blockHash: BLOCK_HASH,
      fee: '1260000000000000',
    },
  ),
  withdrawal_failed: entry(withdrawal, 'A withdrawal can no longer land, or landed and failed.', {
    ...withdrawalExample,
    failure: { code: 'CHAIN_REJECTED', reason: 'execution reverted' },
  }),
  edge_offline: entry(edge, 'No heartbeat for two minutes. Events are queued.', { liveness: 'down' }),
  edge_online: entry(edge, 'Heartbeats are back.', { liveness: 'live' }),
  identity_rotation_detected: entry(
    z.object({ rotationId: z.string(), pinnedIdentity: z.string(), newIdentity: z.string() }),
    'An edge came with another identity: its keys are held back until the owner decides. Sent whatever the subscription.',
    {
      rotationId: 'rot_24pgoiqv7r3xgyh3wzq5cg5a7m',
      pinnedIdentity: '5f3a9c1d2b4e6f70',
      newIdentity: '0c9b8a7d6e5f4031',
    },
  ),
  pool_low: entry(
    z.object({
      chain: z.enum(POOLED_CHAINS),
      unused: count,
      levelPercent: count,
      thresholdPercent: count,
    }),
    'Less than a fifth of a pool is unused; the edge was asked for more.',
    { chain: 'sol', unused: 199, levelPercent: 19, thresholdPercent: 20 },
  ),
  funding_wallet_low: entry(
    lowTank,
    'A gas tank that is a funding wallet holds less than its bound; again only after it held a fifth more than that.',
    {
      fundingWalletId: 'fwl_24pgoiqw3bskzmtq2fhbqkfudu',
      chain: 'eth',
      address: '0xD8B0c74D9a37212480c91f1F97b3cf5C754f31b6',
      available: '1200000000000000',
      lowBalance: '2927107422520000',
      estimatedSweepsRemaining: 8,
    },
  ),
  payment_detected: entry(payment, 'A transfer towards a link has its first confirmation.', {
    ...paymentExample,
    status: 'detected',
    amountConfirmed: '0',
  }),
  payment_confirmed: entry(payment, 'A checkout payment is complete. Only this marks an order paid.', paymentExample),
  payment_underpaid: entry(payment, 'A transfer is confirmed and less than the amount arrived; the link stays open.', {
    ...paymentExample,
    status: 'underpaid',
    amount: '10000000',
    amountFormatted: '10',
    amountPaid: '10',
    amountConfirmed: '10',
    amountRemaining: '15',
  }),
  payment_late: entry(payment, 'A transfer that came after the link was closed is confirmed; it is credited.', {
    ...paymentExample,
    status: 'late',
    amountConfirmed: '0',
    late: true,
  }),
  payment_reversed: entry(
    strayed.extend({ reversedFrom: z.enum(DEPOSIT_STATUSES), depth: count }),
    'A transfer towards a link left the chain in a reorg. What was fulfilled for it may have to be taken back.',
    {
      ...paymentExample,
      status: 'expired',
      amountPaid: '0',
      amountConfirmed: '0',
      amountRemaining: '25',
      reversedFrom: 'confirmed',
      depth: 13,
    },
  ),
  payment_unmatched: entry(
    unmatched,
    'A confirmed transfer on an address of a link completes nothing: more than was asked, another asset or another network. It is credited as a deposit.',
    {
      ...paymentExample,
      status: 'awaiting_payment',
      chain: 'polygon',
      amountPaid: '0',
      amountConfirmed: '0',
      amountRemaining: '25',
      reason: 'wrong_network',
      expected: { chain: 'eth', asset: 'USDC', tokenContract: paymentExample.tokenContract },
    },
  ),
  payment_link_created: entry(link, 'A link was created.', linkExample),
  payment_link_closed: entry(
    link.extend({
      amountRaised: decimal('confirmed transfers on time'),
      paymentCount: count,
      closedReason: z.enum(CLOSED_REASONS),
      closedAt: instant,
      monitorUntil: instant.meta({ description: 'until then late money is reported' }),
    }),
    'A link was closed. Fulfil nothing for it: `payment_confirmed` says what a payer paid.',
    {
      ...linkExample,
      amountRaised: '25',
      paymentCount: 1,
      closedReason: 'paid',
      closedAt: '2026-01-01T00:00:00.000Z',
      monitorUntil: '2026-01-31T00:00:00.000Z',
    },
  ),
  sweep_completed: entry(sweep, 'All operations of a sweep job ended.', sweepExample),
  sweep_paused: entry(sweep, 'A sweep policy paused itself after failed cycles.', {
    ...sweepExample,
    state: 'FAILED',
    amount: '0',
    feePaid: '0',
    operations: { confirmed: 0, failed: 5, skipped: 0 },
    reason: 'edge_spend_cap',
  }),
  bridge_completed: entry(bridge, 'A transfer of a bridge arrived on the other chain.', bridgeExample),
  bridge_stalled: entry(bridge, 'A transfer that is burnt does not go on; it is asked for until it does.', {
    ...bridgeExample,
    state: 'ATTESTING',
    received: null,
    mintTransactionId: null,
    reason: 'attestation',
  }),
} satisfies Record<EventName, EventEntry>;

/** `data` of each event, as its schema says. */
export type EventData = { readonly [E in EventName]: z.output<(typeof EVENT_CATALOGUE)[E]['data']> };

/** The body of a webhook. Spec §6. */
export const eventEnvelope = z.object({
  event: z.enum(EVENTS),
  id: z.string().regex(/^evt_[a-z2-7]{26}$/),
  environment: z.enum(ENVIRONMENTS),
  confirmations: count.nullable(),
  threshold: count.nullable(),
  timestamp: instant,
  data: z.record(z.string(), z.unknown()),
});
export type EventEnvelope = z.infer<typeof eventEnvelope>;

/** The envelope with the `data` of one event. */
export function envelopeOf(event: EventName): z.ZodType {
  return eventEnvelope.extend({ event: z.literal(event), data: EVENT_CATALOGUE[event].data });
}

/** A whole example of an event, as it is sent. */
export function exampleOf(event: EventName): EventEnvelope {
  const { example } = EVENT_CATALOGUE[event];
  const counted =
    /^(deposit|payment|withdrawal)_(detected|confirmed|reversed|underpaid|late|unmatched|broadcast|failed)$/.exec(
      event,
    );
  const gone = ['reversed', 'broadcast', 'failed'];
  return {
    event,
    id: 'evt_5kkqdkjrm2ovmlx3khjjqkg43i',
    environment: 'live',
    confirmations: counted === null ? null : counted[2] === 'detected' ? 1 : gone.includes(counted[2]!) ? 0 : 12,
    threshold: counted === null ? null : 12,
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { ...example },
  };
}

/** An event about a deposit, whole. */
export const depositEnvelope = eventEnvelope.extend({
  event: z.enum(['deposit_detected', 'deposit_confirmed', 'deposit_reversed', 'address_activated']),
  // A cloud of the release before names neither.
  data: deposit.partial({ paymentId: true, linkId: true }),
});
export type DepositEnvelope = z.infer<typeof depositEnvelope>;

/** What an edge checks of an event of a withdrawal before it leaves; one of an earlier release may lack a field. */
export const withdrawalEnvelope = eventEnvelope.partial().extend({
  event: z.enum(['withdrawal_broadcast', 'withdrawal_confirmed', 'withdrawal_failed']),
  data: withdrawal.partial(),
});
export type WithdrawalEnvelope = z.infer<typeof withdrawalEnvelope>;

/** What an edge checks of a payment event before it leaves; whatever else is in it may be newer. payments V9. */
export const paymentEnvelope = eventEnvelope.extend({
  event: z.enum([
    'payment_detected',
    'payment_confirmed',
    'payment_underpaid',
    'payment_late',
    'payment_reversed',
    'payment_unmatched',
  ]),
  data: payment.pick({
    chain: true,
    asset: true,
    tokenContract: true,
    decimals: true,
    address: true,
    derivationPath: true,
    txid: true,
    outputIndex: true,
    incarnation: true,
    height: true,
    blockHash: true,
    amount: true,
    amountFormatted: true,
  }),
});
export type PaymentEnvelope = z.infer<typeof paymentEnvelope>;
