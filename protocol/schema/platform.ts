/** Chains, tokens, sandbox, administrators, health. Spec §2.5, §4.5, §4.7; decisions 8 and 9. */
import { z } from 'zod';
import { wholeListQuery } from '../envelope.ts';
import { CHAINS, CHAIN_STATUSES, ENDPOINT_STATES, READINESS } from '../slugs.ts';
import { plan } from './account.ts';
import {
  addressText,
  chain,
  decimalAmount,
  freeText,
  instant,
  pageReply,
  pathAccountId,
  pathText,
  queryNumber,
  tokenText,
  pathId,
} from './values.ts';
import { between, count, decimals, height, INT_MAX, outputIndex } from './numbers.ts';

// ── Chains ───────────────────────────────────────────────────────────────────────────────────────────────────────

export const chainParams = z.strictObject({ chain });
export const chainView = z.object({
  chain: z.enum(CHAINS),
  enabled: z.boolean(),
  symbol: z.string().nullable(),
  decimals: decimals.nullable(),
  threshold: count.nullable().meta({ description: 'confirmations at which a deposit is credited' }),
  readiness: z.enum(READINESS),
  explorerUrl: z.string().nullable(),
  status: z.enum(CHAIN_STATUSES).meta({
    description:
      'how the cloud node that answers finds the nodes of the chain: `degraded` one does what it must and another does not; `wrong_network` all are of another one; `unknown` none was asked yet',
  }),
  reason: z.string().nullable().meta({
    description: 'why it is not `ok`: each node by its place in the configuration, with expected and seen network',
  }),
  next: z.string().nullable().meta({ description: 'what an operator of the cloud does about it' }),
});
export const chainPage = pageReply(chainView);
export const coverage = z.object({
  chain: z.enum(CHAINS),
  completeHeight: between(-1, 1e12).nullable().meta({ description: 'end of the contiguous part that is done' }),
  headHeight: height.nullable(),
  headAt: instant.nullable().meta({ description: 'when the head last rose' }),
  heardAt: instant.nullable().meta({ description: 'when a node of the chain last reported its head' }),
  ageSeconds: count.nullable().meta({
    description: 'how old all of this is: seconds since heardAt. A lag of 0 of an hour ago says nothing of now',
  }),
  lag: count.nullable().meta({ description: 'blocks between the head and the complete height' }),
  unresolved: z
    .array(
      z.object({
        height,
        reason: z.string(),
        tries: count,
        since: instant,
      }),
    )
    .meta({ description: 'heights whose content is not proven yet: the lowest ones, 1,000 at most' }),
  endpoints: z
    .array(
      z.object({
        endpoint: z
          .string()
          .meta({ description: 'by its place in the configuration: `eth-2` is the second of ETH_RPC_URLS' }),
        state: z.enum(ENDPOINT_STATES).meta({
          description:
            '`down` and `wrong_network` need an operator; `behind`, `stuck`, `unreadable` and `ahead` (claims a head that cannot be) answer, and blocks do not wait for their word',
        }),
        reason: z.string().nullable().meta({ description: 'why; null while nothing is said against it' }),
        next: z.string().nullable().meta({ description: 'what an operator of the cloud does about it' }),
        since: instant.nullable().meta({ description: 'since when its requests leave it so' }),
        nextLookAt: instant.nullable().meta({
          description: 'when one that failed is asked again; null where it is asked at its turn',
        }),
      }),
    )
    .meta({ description: 'the nodes of the chain as the cloud node that answers finds them; none in the sandbox' }),
});

// ── Tokens ───────────────────────────────────────────────────────────────────────────────────────────────────────

export const tokenEntry = z.object({
  symbol: z.string(),
  deployments: z.array(
    z.object({
      chain: z.enum(CHAINS),
      contractAddress: z.string(),
      decimals,
      monitored: z.boolean(),
      deprecated: z.boolean(),
      bridgeable: z.boolean(),
      hazards: z
        .array(z.string())
        .readonly()
        .meta({ description: 'what the contract can do to its holders: `upgradeable`, `blocklist`, …' }),
      activeFrom: height.nullable().meta({
        description: 'the first height at which it is credited; null where every height is',
      }),
    }),
  ),
  unsupportedChains: z.array(z.object({ chain: z.enum(CHAINS), reason: z.string() })),
});
export const tokenPage = pageReply(tokenEntry).extend({
  registryVersion: count.meta({ description: 'of the registry that is shown' }),
});
export const tokensQuery = wholeListQuery({
  version: queryNumber(1, INT_MAX)
    .exactOptional()
    .meta({ description: 'a published version of the registry; the one in force where absent' }),
});

// ── Sandbox ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** One day: a confirmation that is due later belongs to another test. */
const CONFIRM_AFTER_SECONDS_MAX = 86_400;
export const simulateDepositBody = z.strictObject({
  address: addressText,
  chain,
  amount: decimalAmount,
  tokenContract: tokenText.nullish(),
  autoConfirm: z
    .boolean()
    .exactOptional()
    .meta({ description: 'confirms at once; an explicit `false` wins over `confirmAfterSeconds`' }),
  confirmAfterSeconds: between(0, CONFIRM_AFTER_SECONDS_MAX)
    .nullish()
    .meta({ description: 'confirms after so many seconds, unless `autoConfirm` is `false`' }),
});
export const simulatedDeposit = z.object({ txid: z.string(), outputIndex, height });

/** Blocks that one call may mine or take back. */
const SIMULATED_BLOCKS_MAX = 1_000;
export const simulateConfirmationBody = z.strictObject({
  chain,
  txid: freeText(160),
  confirmations: between(1, SIMULATED_BLOCKS_MAX),
});
export const simulatedConfirmation = z.object({ confirmations: count });
export const simulateStuckBody = z.strictObject({
  chain,
  stuck: z.boolean().meta({
    description:
      '`true`: broadcasts stay in the pool and no block takes them; `false`: all that is in the pool is mined',
  }),
  blocks: between(1, SIMULATED_BLOCKS_MAX)
    .exactOptional()
    .meta({ description: 'with `stuck: true`: it ends after so many blocks more, and the pool is mined' }),
  untilRepriced: z.boolean().exactOptional().meta({
    description: 'with `stuck: true`: a version that takes the place of another one in the pool is mined at once',
  }),
});
export const simulatedStuck = z.object({
  stuck: z.boolean(),
  mined: z.array(z.string()).meta({ description: 'txids that left the pool into a block' }),
});
/** An attempt that a simulated endpoint delays is cut after 15 seconds. */
const ENDPOINT_DELAY_SECONDS_MAX = 60;
const ENDPOINT_FAILURES_MAX = 100;
export const simulateReplacedBody = z.strictObject({ chain, txid: freeText(160) });
export const simulatedReplaced = z.object({
  txid: z.string().meta({ description: 'of the transaction that took its place; nobody here signed it' }),
  height,
});
export const simulateEdgeOfflineBody = z.strictObject({
  seconds: between(0, 3_600).meta({ description: '0: it ends now' }),
});
export const simulatedEdgeOffline = z.object({ until: instant });
export const simulateEndpointFailureBody = z.strictObject({
  webhookId: z.uuid(),
  attempts: between(0, ENDPOINT_FAILURES_MAX).meta({
    description: 'how many attempts from now on; 0: it ends now. What is left of them ends after a day',
  }),
  status: between(300, 599)
    .exactOptional()
    .meta({ description: 'what the endpoint seems to answer; nothing is posted to it' }),
  delaySeconds: between(1, ENDPOINT_DELAY_SECONDS_MAX).exactOptional().meta({
    description: 'how late each attempt reaches it; from 15 on the attempt is a `timeout`, and nothing is posted',
  }),
});
export const simulatedEndpointFailure = z.object({ webhookId: z.string(), attempts: count });
/** What falls due by the clock of a sandbox. */
export const DUE_KINDS = [
  'confirmation',
  'payment_expiry',
  'link_end',
  'link_monitored',
  'sweep_policy',
  'delivery_retry',
] as const;
export type DueKind = (typeof DUE_KINDS)[number];
/** How far one call moves it. */
export const CLOCK_DAYS_MAX = 400;
export const sandboxClock = z.object({
  now: instant.meta({ description: 'the time of the account' }),
  aheadSeconds: count.meta({ description: 'how far it is ahead of the real one' }),
});
export const advanceClockBody = z.strictObject({
  advanceSeconds: between(1, CLOCK_DAYS_MAX * 86_400).exactOptional(),
  to: instant
    .exactOptional()
    .meta({ description: `an instant of the account's time, at most ${CLOCK_DAYS_MAX} days on` }),
});
export const advancedClock = z.object({
  now: instant.meta({
    description: 'where the clock got: earlier than was asked for where more fell due than one call does; ask again',
  }),
  ran: z
    .array(
      z.object({
        at: instant,
        what: z.enum(DUE_KINDS),
        id: z.string().meta({ description: 'of the transaction, payment, link, policy or delivery' }),
      }),
    )
    .meta({ description: 'what fell due and was done, in order, each at its own moment' }),
});
export const simulateReorgBody = z.strictObject({ chain, depth: between(1, SIMULATED_BLOCKS_MAX) });
export const simulatedReorg = z.object({ depth: count });
export const simulateChainDownBody = z.strictObject({ chain, seconds: between(0, 3_600) });
export const simulatedChainDown = z.object({ until: instant });
export const simulateDuplicateBody = z.strictObject({
  eventId: z.string().regex(/^evt_[a-z2-7]{26}$/, 'expected the id of an event, evt_ and 26 characters'),
});
export const simulatedDuplicate = z.object({ deliveryIds: z.array(z.string()) });
export const sandboxReset = z.object({ reset: z.literal(true) });

// ── Administrators and health ────────────────────────────────────────────────────────────────────────────────────

const actorFacts = z.object({
  path: z.string(),
  kind: z.string(),
  id: z.string(),
  phase: z.string(),
  state: z.record(z.string(), z.unknown()).nullable().meta({ description: 'a summary without secrets' }),
  mailboxDepth: count,
  messages: count,
  restarts: count,
  lastFault: z.record(z.string(), z.unknown()).nullable(),
  childCount: count,
});
export interface ActorView extends z.infer<typeof actorFacts> {
  children: ActorView[];
}
export const actor: z.ZodType<ActorView> = actorFacts
  .extend({
    get children() {
      return z.array(actor);
    },
  })
  .meta({ id: 'Actor' }) as unknown as z.ZodType<ActorView>;
/** Levels of the tree and children of one actor in an answer, unless asked otherwise. */
export const ACTOR_DEPTH_DEFAULT = 3;
export const ACTOR_CHILDREN_DEFAULT = 100;
/** Another node than the one that answers. */
const node = z.string().min(1).max(200).optional().meta({ description: '`id` of a node; this one where absent' });
export const actorsQuery = z.strictObject({
  depth: queryNumber(0, 8).default(ACTOR_DEPTH_DEFAULT),
  children: queryNumber(0, 1_000).default(ACTOR_CHILDREN_DEFAULT),
  node,
});
export const nodeQuery = z.strictObject({ node });
export const nodesView = z.object({
  self: z.string().meta({ description: '`id` of the node that answers' }),
  nodes: z.array(
    z.object({
      id: z.string(),
      version: z.string().nullable().meta({ description: 'null for a node of an earlier release' }),
      roles: z.array(z.string()),
      alive: z.boolean().meta({ description: 'heard of within its lease; what a dead one owns is taken over' }),
      shards: count.meta({ description: 'of 1,024: accounts that it serves' }),
      chains: z.array(z.string()).meta({ description: 'that it follows, where several nodes share them' }),
      lagMs: count.meta({ description: 'since its last heartbeat' }),
      since: instant,
    }),
  ),
});
export const actorParams = z.strictObject({ path: pathText(500) });
export const actorRestarted = z.object({ path: z.string(), restarted: z.literal(true) });

/** Facts in one answer. */
const FACTS_MAX = 500;
const inboxId = z.string().regex(/^[0-9]{1,18}$/, 'expected the id of a fact, a whole number');
export const factsQuery = z.strictObject({
  after: inboxId.default('0').meta({ description: '`id` of the last fact of the page before' }),
  limit: queryNumber(1, FACTS_MAX).default(100),
});
export const factsSetAside = z.object({
  count: count.meta({ description: 'facts that are set aside now, over all accounts' }),
  facts: z.array(
    z.object({
      id: z.string(),
      accountId: z.string(),
      subject: z.string().meta({ description: 'the transfer or withdrawal that it is about' }),
      fact: z.unknown().meta({ description: 'as the watcher recorded it' }),
      trouble: z.string().meta({ description: 'why the last try failed' }),
      tries: count,
      behind: count.meta({ description: 'later facts of the same subject, which wait behind it, counted to 100' }),
      recordedAt: instant,
      retryAt: instant.meta({ description: 'when it is tried again by itself' }),
    }),
  ),
});
export const retryFactsBody = z.strictObject({
  accountId: freeText(80).optional(),
  id: inboxId.optional(),
});
export const factsRetried = z.object({
  accounts: count.meta({ description: 'accounts with facts that are tried again, within seconds' }),
});

export const accountParams = z.strictObject({ accountId: pathAccountId });
/** Characters of a reason. */
const REASON_CHARS_MAX = 500;
export const suspensionBody = z.strictObject({
  suspended: z.boolean(),
  reason: freeText(REASON_CHARS_MAX).optional().meta({ description: "kept in the account's history; shown to nobody" }),
});
export const userParams = z.strictObject({ userId: pathId('usr') });
export const userSuspensionBody = z.strictObject({ suspended: z.boolean() });
export const userSuspension = z.object({ userId: z.string(), suspended: z.boolean() });
export const suspension = z.object({ accountId: z.string(), suspended: z.boolean() });
/** What is agreed on for a custom band: cents of a dollar and thousandths of one, whole. */
const agreedTerms = z.strictObject({
  addresses: between(1, 1_000_000_000),
  monthlyFeeCents: between(0, 1_000_000_000),
  includedTransactions: between(0, 1_000_000_000),
  overageMills: between(0, 100_000),
  requestsPerMinute: between(1, 1_000_000),
});
export const planBody = z
  .strictObject({
    tier: plan.shape.tier.optional(),
    band: plan.shape.band.optional(),
    subscription: plan.shape.subscription.optional(),
    terms: agreedTerms.nullable().optional().meta({ description: 'of the custom band; null: those of the table' }),
  })
  .refine((body) => Object.keys(body).length > 0, 'at least one of tier, band, subscription and terms');
export const accountPlan = plan.extend({ accountId: z.string() });

export const live = z.object({ status: z.literal('live') });
export const ready = z.object({ status: z.enum(['ready', 'not_ready']), checks: z.record(z.string(), z.boolean()) });
/** Answers that are not enveloped: the description, metrics, keys. */
export const anyDocument = z.unknown();
