/**
 * Everything of an edge that talks to the cloud, to the company's nodes and to receivers of webhooks, in the order of
 * construction. Each part is given what is above it, and nothing below it:
 *
 *   part          room       needs, beside configuration and EdgeParts
 *   session       link       –
 *   nodes         signing    –
 *   via-leader    link       session
 *   guard         signing    nodes
 *   submissions   signing    session, via-leader, guard
 *   sender        link       session, submissions
 *   binding       signing    –
 *   signing       signing    session, nodes, via-leader, guard, submissions, sender, binding
 *   operations    sweeps     signing's needs, sender, submissions
 *   refills       link       –
 *   audit         link       –
 *   attestations  link       –
 *   counters      http       –
 *   blocked       webhooks   –
 *   poster        webhooks   counters, blocked
 *   check         webhooks   nodes
 *   relay         webhooks   sender, guard, counters, blocked, poster, check
 *   metrics       http       session, relay, audit, counters, blocked
 *   takers        edge       session, sender, signing, operations, refills, audit, attestations, relay
 *
 * The session is built first because all report through it; it takes no frame before `start(takers)`.
 */
import { statfsSync } from 'node:fs';
import { networkOf } from '../chains/registry.ts';
import { isRefusal, Refused } from '../protocol/errors.ts';
import { ATTEMPTS_PER_FRAME, EDGE_VERSION, type Acknowledgement, type SyncBody } from '../protocol/frames.ts';
import { FAMILY_OF, POOLED_CHAINS, type Chain, type PooledChain } from '../protocol/slugs.ts';
import type { EdgeConfig } from './config.ts';
import type { EdgePath } from './http/exchange.ts';
import { createCertificateLook } from '../protocol/node/certificate-look.ts';
import { checkValues, type Kept } from '../protocol/node/doctor/kept.ts';
import { keepRunning } from './doctor/checks.ts';
import { createEdgeCounters, createMetricsPath, type EdgeCounters, type EdgeGauges } from './http/metrics.ts';
import type { Keystore } from './keystore/keystore.ts';
import { AttestationKeeper } from './link/attestations.ts';
import { AuditKeeper } from './link/audit-keeper.ts';
import { OutboxSender } from './link/outbox-sender.ts';
import { PoolRefills } from './link/pool-refills.ts';
import { derivePool } from './link/pools.ts';
import { deniedInEvent } from './link/reported.ts';
import { Session, type SessionTakers } from './link/session.ts';
import { createViaLeader } from './link/via-leader.ts';
import type { EdgeParts, EdgePorts } from './parts.ts';
import { spentOfCaps } from './spend/ledger.ts';
import type { EdgeLog } from './process/log.ts';
import { CounterBinding } from './signing/binding.ts';
import type { OnBroadcast } from './signing/instruction-share.ts';
import { createOwnCounters } from './signing/own-counters.ts';
import { createOwnFates } from './signing/own-fates.ts';
import { createOwnNodes, type OwnNodes } from './signing/own-nodes.ts';
import { PaymentGuard } from './signing/payment-guard.ts';
import { loadSigner } from './signing/signer-loader.ts';
import { Signing } from './signing/signing.ts';
import { Submissions } from './signing/submissions.ts';
import { Operations } from './sweeps/operations.ts';
import { allowedOf } from './sweeps/treasuries.ts';
import { BlockedTargets } from './webhooks/blocked-targets.ts';
import { createDepositCheck, judgeDelivery, takenKeysIn } from './webhooks/deposit-check.ts';
import { plainEvent } from './webhooks/plain-event.ts';
import { createWebhookPolicy } from './webhooks/policy.ts';
import { createWebhookPoster, type WebhookPoster } from './webhooks/post.ts';
import { unverified, WebhookRelay } from './webhooks/relay.ts';

/** What an edge is given from outside, and what it is doing. */
export interface EdgeContext {
  readonly config: EdgeConfig;
  readonly keystore: Keystore;
  readonly log: EdgeLog;
  readonly ports: EdgePorts;
  readonly sessionId: string;
  readonly running: { stopping: boolean; port: number; readonly startedAtMs: number; confirm: () => void };
}

export interface Links {
  readonly session: Session;
  readonly sender: OutboxSender;
  readonly submissions: Submissions;
  readonly signing: Signing;
  readonly operations: Operations;
  readonly guard: PaymentGuard;
  readonly relay: WebhookRelay;
  readonly blocked: BlockedTargets;
  readonly refills: PoolRefills;
  readonly audit: AuditKeeper;
  readonly attestations: AttestationKeeper;
  readonly counters: EdgeCounters;
  /** What the doctor saw last; asked for, it looks again where that is old. */
  readonly examined: () => Kept | null;
  readonly metrics: EdgePath;
  readonly takers: SessionTakers;
}

const OUTBOX_NEXT =
  'look at what the code says; the write is tried again by itself, and others pass it. flock-edge outbox set-aside takes it out of the way';

/** Builds the parts of the table above, in its order. Nothing connects before `session.start`. */
export function linkUp(context: EdgeContext, parts: EdgeParts): Links {
  const session = createSession(context, parts);
  const nodes = nodesOf(context, parts);
  const payments = linkPayments(context, parts, { session, nodes });
  const { sender, signing, operations, guard } = payments;
  const refills = new PoolRefills({
    keystore: context.keystore,
    monotonicMs: context.ports.monotonicMs,
    push: (pool) => parts.upstream.signed.call('pushPool', { body: { pool } }),
  });
  const audit = new AuditKeeper({
    environment: context.config.environment,
    storage: parts.storage,
    upstream: parts.upstream,
    lease: parts.lease,
    nowMs: context.ports.wallMs,
    log: context.log,
  });
  const attestations = new AttestationKeeper({
    environment: context.config.environment,
    keystore: context.keystore,
    upstream: parts.upstream,
    lease: parts.lease,
    nowMs: context.ports.wallMs,
    monotonicMs: context.ports.monotonicMs,
    log: context.log,
  });
  const counters = createEdgeCounters();
  const blocked = new BlockedTargets(context.ports.wallMs);
  const poster = createPoster(context, { counters, blocked });
  const relay = createRelay(context, parts, { nodes, sender, guard, counters, blocked, poster });
  const examined = keepRunning(context.config, context.ports.monotonicMs);
  const metrics = createMetrics(context, parts, { session, relay, audit, counters, blocked, examined });
  const takers = takersOf(context, parts, {
    session,
    sender,
    signing,
    operations,
    refills,
    audit,
    attestations,
    relay,
  });
  return { session, ...payments, refills, audit, attestations, relay, blocked, counters, examined, metrics, takers };
}

function createSession(context: EdgeContext, parts: EdgeParts): Session {
  const { config, log, ports, sessionId } = context;
  const { upstream, storage, lease, outbox, timers } = parts;
  return new Session({
    sessionId,
    edgeVersion: EDGE_VERSION,
    podHint: config.podHint,
    cloudUrl: config.cloudUrl,
    upstream,
    timers,
    lease,
    log,
    monotonicMs: ports.monotonicMs,
    nowMs: ports.wallMs,
    keyShare: parts.keyShare,
    instructionShare: parts.instructionShare,
    registration: {
      storage,
      publicKeys: publicKeysOnce(context),
      keySetName: keySetNameOf(context),
      rotationCheckMs: config.rotationCheckMs,
    },
    outboxReport: () => outbox.report(),
    treasuryReport: () => ({
      registryVersion: parts.registry.current.version,
      windowSeconds: Math.floor(config.spendWindowMs / 1_000),
      caps: spentOfCaps(config.spendCaps, parts.ledger).map(({ chain, cap, spent }) => ({
        chain,
        cap: String(cap),
        spent: String(spent),
      })),
      sweepFeeRatioBps: config.fees.sweepFeeRatioBps,
      ...allowedOf(config.sweepTreasuries),
    }),
  });
}

/** The company's own nodes (EDGE_VERIFY_RPC_<CHAIN>); null where none is named. */
function nodesOf({ config, ports }: EdgeContext, { registry }: Pick<EdgeParts, 'registry'>): OwnNodes | null {
  if (config.verifyNodes.size === 0) return null;
  return createOwnNodes({
    nodes: config.verifyNodes,
    confirmations: config.verifyConfirmations,
    catalogueOf: registry.catalogueOf,
    monotonicMs: ports.monotonicMs,
  });
}

/** From a broadcast to the cloud's answer: via-leader, guard, submissions, sender, binding, signing. */
function linkPayments(
  context: EdgeContext,
  parts: EdgeParts,
  { session, nodes }: { session: Session; nodes: OwnNodes | null },
): Pick<Links, 'guard' | 'submissions' | 'sender' | 'signing' | 'operations'> {
  const { config, keystore, log, ports, sessionId } = context;
  const { upstream, lease, outbox, instructions, timers, ledger } = parts;
  const { environment } = config,
    shared = parts.sharedSpend;
  const onRefused = (code: string) => session.noteRefusal(code),
    share = () => session.shareInstructions(),
    pause = (ms: number) => timers.pause(ms);
  const viaLeader = createViaLeader({ upstream, share, onRefused });
  const fates = nodes === null ? null : createOwnFates(nodes);
  const guard = new PaymentGuard({ environment, instructions, ledger, shared, fates, upstream, log });
  const submissions = new Submissions({
    sessionId,
    upstream,
    lease,
    instructions,
    timers,
    viaLeader,
    guard,
    onRefused,
    log,
  });
  const sender = createSender({ outbox, session, submissions, log });
  const binding = new CounterBinding({ instructions, upstream, sharesLedger: shared !== null, pause, log });
  const common = {
    environment,
    lease,
    instructions,
    ledger,
    shared,
    outbox,
    submissions,
    keystore,
    upstream,
    policies: {
      instructions,
      own: parts.own,
      fees: config.fees,
      firstNonceMax: config.firstNonceMax,
      sweepTreasuries: config.sweepTreasuries,
      btcSweeps: config.btcSweeps,
      bridgeCaps: config.bridgeCaps,
      catalogueOf: parts.registry.catalogueOf,
      nowMs: ports.wallMs,
    },
    nextCounter: nodes === null ? null : createOwnCounters(nodes),
    signerOf: async (chain: Chain) => (config.chains.includes(chain) ? loadSigner(chain) : null),
    beat: () => session.beat(),
    nudge: () => sender.nudge('signed'),
    log,
  };
  const signing = new Signing({
    ...common,
    binding,
    pause,
    share,
    guard,
    viaLeader,
    instructionTtlMs: config.instructionTtlMs,
  });
  const operations = new Operations({ ...common, storage: parts.storage, registry: parts.registry });
  return { guard, submissions, sender, signing, operations };
}

function createSender({
  outbox,
  session,
  submissions,
  log,
}: Pick<EdgeParts, 'outbox'> & Pick<Links, 'session' | 'submissions'> & Pick<EdgeContext, 'log'>): OutboxSender {
  return new OutboxSender(
    outbox,
    {
      attempt: { batch: ATTEMPTS_PER_FRAME, send: (writes) => session.sendAttempts(writes) },
      signed: { batch: 1, send: (writes) => submissions.send(writes) },
    },
    {
      onFault: (error) => log.fault('outbox_fault', error),
      onPoisoned: ({ kind, subject }, code) =>
        log.alarm('outbox_poisoned', { write: `${kind} ${subject}`, code, next: OUTBOX_NEXT }),
    },
  );
}

function createPoster(
  { config, log, ports, running }: EdgeContext,
  { counters, blocked }: Pick<RelayNeeds, 'counters' | 'blocked'>,
): WebhookPoster {
  return createWebhookPoster({
    policy: createWebhookPolicy({
      environment: config.environment,
      allowlist: config.webhookAllowlist,
      ownPort: () => running.port,
    }),
    connections: config.webhookConcurrencyPerHost,
    monotonicMs: ports.monotonicMs,
    wallMs: ports.wallMs,
    ...(ports.resolve === undefined ? {} : { resolve: ports.resolve }),
    onBlocked: ({ deliveryId, url }, reason) => {
      const { target, setting, next } = blocked.note(url, reason);
      counters.noteBlocked(reason);
      log.warn('webhook_blocked', { deliveryId, reason, target, setting, next });
    },
  });
}

interface RelayNeeds extends Pick<Links, 'sender' | 'guard' | 'blocked'> {
  readonly nodes: OwnNodes | null;
  readonly counters: EdgeCounters;
  readonly poster: WebhookPoster;
}

function createRelay(
  context: EdgeContext,
  parts: EdgeParts,
  { nodes, sender, guard, counters, blocked, poster }: RelayNeeds,
): WebhookRelay {
  const { config, log, ports, running } = context;
  const { lease, outbox, timers } = parts;
  const check = createDepositCheck({
    nodes,
    environment: config.environment,
    catalogueOf: parts.registry.catalogueOf,
    keys: takenKeysIn(parts.storage),
    monotonicMs: ports.monotonicMs,
    holderOf: (chain, address) => parts.issued.holderOf(chain, address),
    isLentAt: (chain, path, address) => parts.own.isLentAt(chain, path, address),
    withdrawals: {
      environment: config.environment,
      instructions: parts.instructions,
      issued: parts.issued,
      catalogueOf: parts.registry.catalogueOf,
    },
    onDifference: (reason, said) =>
      log.alarm(reason === 'other_symbol' ? 'symbol_differs' : 'deposit_differs', {
        chain: said?.data.chain ?? null,
        txid: said?.data.txid ?? null,
        reason,
      }),
  });
  return new WebhookRelay({
    poster: {
      close: async () => void (await Promise.all([poster.close(), check.close()])),
      post: async (delivery) => {
        const event = plainEvent(delivery.body);
        if (event === null) log.alarm('event_not_plain', { deliveryId: delivery.deliveryId });
        // A denial is durable before the receiver reads it; where it cannot be, the cloud delivers it again.
        else if (!(await guard.noteDenied(deniedInEvent(event, { isTxidOf: (id, txid) => guard.isTxidOf(id, txid) }))))
          return null;
        const attempt = event === null ? unverified(delivery, 0) : await poster.post(delivery);
        if (attempt !== null) counters.noteAttempt(attempt);
        if (attempt?.outcome === 'answered') blocked.reached(delivery.url);
        return attempt;
      },
    },
    check: (delivery) =>
      judgeDelivery(check, delivery, {
        log,
        timers,
        monotonicMs: ports.monotonicMs,
        isStopping: () => running.stopping,
      }),
    outbox,
    concurrency: config.webhookConcurrency,
    concurrencyPerHost: config.webhookConcurrencyPerHost,
    mayAct: (leaseEpoch) => lease.mayAct(leaseEpoch),
    onStored: () => sender.nudge('attempt'),
    onFault: (error) => log.fault('relay_fault', error),
  });
}

function createMetrics(
  { log, config }: EdgeContext,
  { outbox, lease, keyShare, upstream }: EdgeParts,
  {
    session,
    relay,
    audit,
    counters,
    blocked,
    examined,
  }: Pick<Links, 'session' | 'relay' | 'audit' | 'blocked' | 'examined'> & Pick<RelayNeeds, 'counters'>,
): EdgePath {
  const certificateDays = createCertificateLook(config.cloudUrl);
  const read = (): EdgeGauges => {
    const { outboxDepth, outboxPoisoned } = outbox.report();
    return {
      outboxDepth,
      outboxPoisoned,
      leader: lease.view().held,
      registered: session.registration.kind === 'confirmed',
      streamUp: session.streamUp,
      deliveriesInFlight: relay.load,
      alarms: log.alarms,
      webhookTargetsBlocked: blocked.list().length,
      revocationsUnconfirmed: keyShare.unconfirmed,
      auditBroken: audit.broken,
      clockOffsetSeconds: upstream.clockOffsetSeconds(),
      certificateDays: certificateDays(),
      diskAvailable: diskAvailable(config.dataDir),
      checks: checkValues(examined()),
    };
  };
  return createMetricsPath(counters, read, config.mayScrape, log);
}

/** Part of the disk of a directory that may still be filled; null where that cannot be asked. */
function diskAvailable(directory: string): number | null {
  try {
    const { bavail, blocks } = statfsSync(directory);
    return blocks === 0 ? null : bavail / blocks;
  } catch {
    return null;
  }
}

type Receivers = Pick<
  Links,
  'session' | 'sender' | 'signing' | 'operations' | 'refills' | 'audit' | 'attestations' | 'relay'
>;

function takersOf(
  { log, running }: EdgeContext,
  { registry }: Pick<EdgeParts, 'registry'>,
  { session, sender, signing, operations, refills, audit, attestations, relay }: Receivers,
): SessionTakers {
  return {
    deliver: ({ leaseEpoch, deliveries }) => relay.accept(leaseEpoch, deliveries),
    sign: (transactionId, leaseEpoch) => acknowledged(() => signing.onFrame(transactionId, leaseEpoch)),
    registry: async (frame) => acknowledged(async () => registry.take(frame)),
    operate: (frame) => acknowledged(() => operations.onFrame(frame)),
    replenish: (ask) => acknowledged(() => refills.refill(ask)),
    onBroadcast: noteBroadcasts(signing, session, log),
    onMovement: () => {
      if (session.registration.kind === 'confirmed') running.confirm();
      sender.nudge();
      void audit.look();
      void attestations.look();
    },
  };
}

/** Another replica's caller broadcast it: recorded, and bound where only this replica may bind it. */
function noteBroadcasts(signing: Signing, session: Session, log: EdgeLog): OnBroadcast {
  return (recorded, asked) =>
    void signing
      .noteElsewhere(recorded)
      .then(async () => {
        if (asked === 'unbound' && (await signing.bindForOthers(recorded.instruction.id)))
          await session.shareInstructions();
      })
      .catch((error: unknown) => log.fault('instructions_fault', error));
}

/** Deriving pools takes seconds: one derivation, used by each retry of the sync, unless it failed. */
function publicKeysOnce(context: EdgeContext): () => ReturnType<typeof publicKeysOf> {
  let publicKeys: ReturnType<typeof publicKeysOf> | null = null;
  return () =>
    (publicKeys ??= publicKeysOf(context).catch((error: unknown) => {
      publicKeys = null;
      throw error;
    }));
}

/** What a sync registers: one extended key a family, one pool for each Ed25519 chain. */
async function publicKeysOf({ config, keystore }: EdgeContext): Promise<Pick<SyncBody, 'keys' | 'pools'>> {
  const families = new Map(config.chains.map((chain) => [FAMILY_OF[chain], chain] as const));
  const keys = [...families].flatMap(([family, chain]) => {
    const xpub = keystore.accountXpub(family);
    return xpub === null ? [] : [{ family, xpub, accountPath: networkOf(chain).accountPath }];
  });
  const pools: SyncBody['pools'] = [];
  for (const chain of pooledOf(config.chains)) pools.push(await derivePool(keystore, chain));
  return { keys, pools };
}

function pooledOf(chains: readonly Chain[]): PooledChain[] {
  return POOLED_CHAINS.filter((chain) => chains.includes(chain));
}

/** Changes with the phrase, the families and the pools; without deriving a pool. */
function keySetNameOf({ config, keystore }: EdgeContext): string {
  return [
    config.cloudUrl,
    keystore.identity.publicKey,
    ...new Set(config.chains.map((chain) => FAMILY_OF[chain])),
  ].join(' ');
}

async function acknowledged(work: () => Promise<unknown>): Promise<Acknowledgement> {
  try {
    const reply = await work();
    return isRefusal(reply) ? { ok: false, code: reply.code, details: { ...reply.details } } : { ok: true };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, code: error.refusal.code, details: { ...error.refusal.details } };
    throw error;
  }
}
