/** One edge, put together: configuration and keystore in, a serving process out. No environment and no signals here. */
import type { FastifyInstance } from 'fastify';
import { catalogueOf } from '../chains/catalogue.ts';
import { isRefusal, Refused } from '../protocol/errors.ts';
import { ATTEMPTS_PER_FRAME, EDGE_VERSION, type Acknowledgement, type SyncBody } from '../protocol/frames.ts';
import { newId } from '../protocol/node/ids.ts';
import { FAMILY_OF, POOLED_CHAINS, type Chain, type PooledChain } from '../protocol/slugs.ts';
import { networkOf } from '../chains/registry.ts';
import { ownGasTanks } from './answers/address-rules.ts';
import type { Known } from './answers/known.ts';
import { ownTransaction } from './answers/transaction-rules.ts';
import type { EdgeConfig } from './config.ts';
import { createEdgePaths } from './http/edge-paths.ts';
import { readinessOf } from './http/readiness.ts';
import { createHearing } from './http/hearing.ts';
import { createForwarding } from './http/forward.ts';
import { createEdgeMetrics, type EdgeMetrics } from './http/metrics.ts';
import { createEdgeServer } from './http/server.ts';
import { createStatusPage } from './http/status-page.ts';
import { createTransactionPaths } from './http/transactions.ts';
import type { Keystore } from './keystore/keystore.ts';
import type { EdgeLog } from './process/log.ts';
import { KEY_SHELF_MS } from './local-keys/key-shelf.ts';
import { createOwnCounters } from './signing/own-counters.ts';
import { createOwnFates } from './signing/own-fates.ts';
import { createOwnNodes } from './signing/own-nodes.ts';
import { openParts, type EdgeParts, type EdgePorts } from './parts.ts';
import { PaymentGuard } from './signing/payment-guard.ts';
import { PoolRefills } from './link/pool-refills.ts';
import { derivePool } from './link/pools.ts';
import { claimSessionId } from './link/session-id.ts';
import { Session } from './link/session.ts';
import { LiveChains } from './link/live-chains.ts';
import { loadSigner } from './signing/signer-loader.ts';
import { CounterBinding } from './signing/binding.ts';
import { Signing } from './signing/signing.ts';
import { markIfPossible, SPEND_MARK_MS } from './spend/clock.ts';
import { statusOfEdge } from './http/status.ts';
import { Submissions } from './signing/submissions.ts';
import { deniedInEvent } from './link/reported.ts';
import { createViaLeader } from './link/via-leader.ts';
import { OutboxSender } from './link/outbox-sender.ts';
import { createDepositCheck, judgeDelivery, takenKeysIn } from './webhooks/deposit-check.ts';
import { createWebhookPolicy } from './webhooks/policy.ts';
import { createWebhookPoster } from './webhooks/post.ts';
import { plainEvent } from './webhooks/plain-event.ts';
import { unverified, WebhookRelay } from './webhooks/relay.ts';

/** A graceful stop in parts that add up to less than 10 s. Milliseconds. */
const REQUESTS_STOP_MS = 4_000;
const OUTBOX_STOP_MS = 2_000;
const RELEASE_STOP_MS = 1_000;
/** A build at a follower is answered when the leader can know of it, or after this. Milliseconds. */
const SHARE_WAIT_MS = 3_000;

export interface RunningEdge {
  /** Port that it listens on. */
  readonly port: number;
  readonly sessionId: string;
  /** Resolves when the cloud confirmed the registration for the first time. */
  readonly registered: Promise<void>;
  /** Ends everything within 10 s: what was answered is durable, what was not is answered with 503. */
  stop(): Promise<void>;
}

/** Everything that talks to the cloud, bound together. */
interface Links {
  readonly session: Session;
  readonly sender: OutboxSender;
  readonly submissions: Submissions;
  readonly signing: Signing;
  readonly guard: PaymentGuard;
  readonly relay: WebhookRelay;
  readonly metrics: EdgeMetrics;
  readonly refills: PoolRefills;
}

/**
 * Starts an edge: opens its data directory, listens, registers in the background.
 * Throws: ConfigurationError (data directory of another environment, older registry), StorageFailed, a port in use.
 */
export async function startEdge(
  config: EdgeConfig,
  keystore: Keystore,
  log: EdgeLog,
  ports: EdgePorts,
): Promise<RunningEdge> {
  const parts = await openParts(config, keystore, log, ports);
  const { sessionId, end: endSession } = claimSessionId(config.dataDir, () => newId('ses', ports.wallMs()));
  const running = {
    stopping: false,
    port: config.port,
    startedAtMs: ports.monotonicMs(),
    confirm: () => undefined as void,
  };
  const registered = new Promise<void>((resolve) => {
    running.confirm = resolve;
  });
  const links = linkUp({ config, keystore, log, ports, sessionId, running }, parts);
  const server = serve({ config, keystore, log, ports, sessionId, running }, parts, links);
  try {
    await Promise.all(config.chains.map((chain) => loadSigner(chain)));
    await server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await endAll(parts, links, keystore);
    throw error;
  }
  const address = server.server.address();
  running.port = typeof address === 'object' && address !== null ? address.port : config.port;
  log.info('listening', { port: running.port, environment: config.environment, version: EDGE_VERSION, sessionId });
  links.session.start();
  links.sender.nudge();
  let stopped: Promise<void> | null = null;
  return {
    port: running.port,
    sessionId,
    registered,
    stop: () =>
      (stopped ??= (async () => {
        running.stopping = true;
        links.submissions.stop();
        await Promise.all([links.relay.stop(), closeServer(server)]);
        await within(links.sender.idle(), OUTBOX_STOP_MS);
        await within(links.session.release(), RELEASE_STOP_MS);
        await endAll(parts, links, keystore);
        endSession();
        log.info('stopped');
      })()),
  };
}

interface Context {
  readonly config: EdgeConfig;
  readonly keystore: Keystore;
  readonly log: EdgeLog;
  readonly ports: EdgePorts;
  readonly sessionId: string;
  readonly running: { stopping: boolean; port: number; readonly startedAtMs: number; confirm: () => void };
}

const OUTBOX_NEXT =
  'look at what the code says; the write is tried again by itself, and others pass it. flock-edge outbox set-aside takes it out of the way';

function linkUp(context: Context, parts: EdgeParts): Links {
  const { config, log, ports, sessionId, running } = context;
  const { upstream, storage, lease, outbox, instructions, timers } = parts;
  timers.every(SPEND_MARK_MS, () => markSpendTime(parts));
  const readKeys = () => void parts.keyShare.readShelf().then(() => session.shareKeys());
  if (config.spendLedger !== null) {
    readKeys();
    timers.every(KEY_SHELF_MS, readKeys);
  }
  // Pools take a while; a sync that is tried again has them.
  let publicKeys: ReturnType<typeof publicKeysOf> | null = null;
  const metrics = createEdgeMetrics(() => {
    const { outboxDepth, outboxPoisoned } = outbox.report();
    return {
      outboxDepth,
      outboxPoisoned,
      leader: lease.view().held,
      registered: session.registration.kind === 'confirmed',
      streamUp: session.streamUp,
      deliveriesInFlight: relay.load,
      alarms: log.alarms,
      revocationsUnconfirmed: parts.keyShare.unconfirmed,
    };
  });
  const onRefused = (code: string) => session.noteRefusal(code);
  const viaLeader = createViaLeader({ upstream, share: () => session.shareInstructions(), onRefused });
  const nodes =
    config.verifyNodes.size === 0
      ? null
      : createOwnNodes({
          nodes: config.verifyNodes,
          confirmations: config.verifyConfirmations,
          monotonicMs: ports.monotonicMs,
        });
  const guard = new PaymentGuard({
    environment: config.environment,
    instructions,
    ledger: parts.ledger,
    shared: parts.sharedSpend,
    fates: nodes === null ? null : createOwnFates(nodes),
    upstream,
    log,
  });
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
  const sender = new OutboxSender(
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
  const pause = (ms: number) => timers.pause(ms),
    binding = new CounterBinding({ instructions, upstream, sharesLedger: parts.sharedSpend !== null, pause, log });
  const signing = new Signing({
    environment: config.environment,
    binding,
    pause,
    share: () => session.shareInstructions(),
    lease,
    instructions,
    ledger: parts.ledger,
    shared: parts.sharedSpend,
    guard,
    outbox,
    submissions,
    keystore: context.keystore,
    upstream,
    policies: {
      instructions,
      own: parts.own,
      fees: config.fees,
      firstNonceMax: config.firstNonceMax,
      sweepTreasuries: config.sweepTreasuries,
      catalogueOf,
      nowMs: ports.wallMs,
    },
    nextCounter: nodes === null ? null : createOwnCounters(nodes),
    signerOf: async (chain) => (config.chains.includes(chain) ? loadSigner(chain) : null),
    beat: () => session.beat(),
    viaLeader,
    instructionTtlMs: config.instructionTtlMs,
    nudge: () => sender.nudge('signed'),
    log,
  });
  parts.instructionShare.onBroadcast = (recorded, asked) =>
    void signing
      .noteElsewhere(recorded)
      .then(async () => {
        if (asked === 'unbound' && (await signing.bindForOthers(recorded.instruction.id)))
          await session.shareInstructions();
      })
      .catch((error: unknown) => log.fault('instructions_fault', error));
  const policy = createWebhookPolicy({
    environment: config.environment,
    allowlist: config.webhookAllowlist,
    ownPort: () => running.port,
  });
  const poster = createWebhookPoster({
    policy,
    connections: config.webhookConcurrencyPerHost,
    monotonicMs: ports.monotonicMs,
    wallMs: ports.wallMs,
    ...(ports.resolve === undefined ? {} : { resolve: ports.resolve }),
    onBlocked: (deliveryId, reason) =>
      log.warn('webhook_blocked', {
        deliveryId,
        reason,
        setting: 'EDGE_WEBHOOK_ALLOWLIST',
        next: 'this edge posts to public https only, and to what the list names: add the host, host:port or network of the webhook, or change its URL',
      }),
  });
  const check = createDepositCheck({
    nodes,
    environment: config.environment,
    keys: takenKeysIn(parts.storage),
    monotonicMs: ports.monotonicMs,
    holderOf: (chain, address) => parts.issued.holderOf(chain, address),
    onDifference: (reason, { data: { chain, txid } }) => log.alarm('deposit_differs', { chain, txid, reason }),
  });
  const relay = new WebhookRelay({
    poster: {
      close: async () => void (await Promise.all([poster.close(), check.close()])),
      post: async (delivery) => {
        const event = plainEvent(delivery.body);
        if (event === null) log.alarm('event_not_plain', { deliveryId: delivery.deliveryId });
        // a denial is kept before anybody hears it; it comes again
        else if (!(await guard.noteDenied(deniedInEvent(event)))) return null;
        const attempt = event === null ? unverified(delivery, 0) : await poster.post(delivery);
        if (attempt !== null) metrics.noteAttempt(attempt);
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
  const refills = new PoolRefills({
    keystore: context.keystore,
    monotonicMs: ports.monotonicMs,
    push: (pool) => upstream.signed.call('pushPool', { body: { pool } }),
  });
  const session: Session = new Session({
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
      publicKeys: () =>
        (publicKeys ??= publicKeysOf(context).catch((error: unknown) => {
          publicKeys = null;
          throw error;
        })),
      keySetName: keySetNameOf(context),
      rotationCheckMs: config.rotationCheckMs,
    },
    outboxReport: () => outbox.report(),
    deliver: ({ leaseEpoch, deliveries }) => relay.accept(leaseEpoch, deliveries),
    sign: (transactionId, leaseEpoch) => acknowledged(() => signing.onFrame(transactionId, leaseEpoch)),
    replenish: (ask) => acknowledged(() => refills.refill(ask)),
    onMovement: () => {
      if (session.registration.kind === 'confirmed') running.confirm();
      sender.nudge();
    },
  });
  return { session, sender, submissions, signing, guard, relay, metrics, refills };
}

function serve(context: Context, parts: EdgeParts, links: Links): FastifyInstance {
  const { config, log, ports, sessionId, running } = context;
  const { session } = links;
  const unsynced = () => {
    const state = session.registration;
    return state.kind === 'confirmed' ? null : (state.code ?? 'starting');
  };
  const known: Known = {
    environment: config.environment,
    own: parts.own,
    keystore: context.keystore,
    instructions: parts.instructions,
    issued: parts.issued,
  };
  const forwarding = createForwarding({
    upstream: parts.upstream,
    known,
    unsynced,
    onRefused: (code) => session.noteRefusal(code),
    log,
  });
  const { build, trustline, reprice, broadcast } = createTransactionPaths({
    forwarding,
    instructions: parts.instructions,
    signing: links.signing,
    log,
    unsynced,
    ownTransaction: (id) => ownTransaction(id, known, ports.wallMs()),
    shared: async () => {
      const sent = session.shareInstructions();
      if (!parts.lease.view().held) await within(sent, SHARE_WAIT_MS);
    },
  });
  const edgePaths = createEdgePaths({
    keys: parts.localKeys,
    outbox: parts.outbox,
    onKeysChanged: () => session.shareKeys(),
    resync: () => session.resync(),
    log,
    unsynced,
    gasTanks: () => ownGasTanks(known, config.chains),
    checks: readinessOf(parts.storage, session, ports.monotonicMs),
  });
  const liveChains = new LiveChains(parts.upstream, ports.monotonicMs);
  const status = () =>
    statusOfEdge({
      liveChains: liveChains.view(),
      config,
      registration: session.registration,
      streamUp: session.streamUp,
      lease: parts.lease.view(),
      outbox: parts.outbox.report(),
      deliveries: links.relay.load,
      alarms: log.alarms,
      uptimeSeconds: (ports.monotonicMs() - running.startedAtMs) / 1_000,
      sessionId,
      stopping: running.stopping,
    });
  return createEdgeServer({
    paths: {
      ...edgePaths,
      buildTransaction: build,
      createTrustline: trustline,
      repriceTransaction: reprice,
      broadcastTransaction: broadcast,
      getMetrics: links.metrics.path,
    },
    forward: forwarding.forward,
    hearing: createHearing(links.guard),
    statusPage: createStatusPage(status, ports.wallMs),
    judgeKey: (key) => parts.localKeys.judge(key),
    stopping: () => running.stopping,
    nowMs: ports.wallMs,
    log,
  });
}

/** What a sync registers: one extended key a family, one pool for each Ed25519 chain. */
async function publicKeysOf({ config, keystore }: Context): Promise<Pick<SyncBody, 'keys' | 'pools'>> {
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
function keySetNameOf({ config, keystore }: Context): string {
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

function markSpendTime({ spendClock, sharedSpend }: EdgeParts): void {
  markIfPossible(spendClock);
  sharedSpend?.mark();
}

async function endAll(parts: EdgeParts, links: Links, keystore: Keystore): Promise<void> {
  links.refills.stop();
  // Told first and waited for last: a pause, or a cloud that does not answer, must not hold the end.
  const ended = Promise.all([links.session.stop(), links.sender.stop()]);
  parts.timers.stop();
  await parts.upstream.close();
  await ended;
  markSpendTime(parts);
  await parts.sharedSpend?.close();
  await parts.issued.close();
  parts.storage.close();
  keystore.stop();
}

/** Waits for the requests in flight, then cuts what is left. */
async function closeServer(server: FastifyInstance): Promise<void> {
  await within(
    server.close().then(() => undefined),
    REQUESTS_STOP_MS,
  );
  server.server.closeAllConnections();
}

function within(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
