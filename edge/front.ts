/** The HTTP server of one edge: each path with the parts that answer it. Built last, from parts and links. */
import type { FastifyInstance } from 'fastify';
import { ownGasTanks } from './answers/address-rules.ts';
import type { Known } from './answers/known.ts';
import { ownTransaction } from './answers/transaction-rules.ts';
import { UNDECLARED } from './http/declared-codes.ts';
import { createEdgePaths } from './http/edge-paths.ts';
import { createForwarding } from './http/forward.ts';
import { createHearing } from './http/hearing.ts';
import { readinessOf } from './http/readiness.ts';
import { createEdgeServer } from './http/server.ts';
import { statusOfEdge } from './http/status.ts';
import { createSheetPaths } from './http/sheets.ts';
import { createStatusPage } from './http/status-page.ts';
import { createTransactionPaths } from './http/transactions.ts';
import { createContentPath, createUploadPath, GivenUploads } from './http/uploads.ts';
import { LiveChains } from './link/live-chains.ts';
import type { EdgeContext, Links } from './links.ts';
import type { EdgeParts } from './parts.ts';
import { within } from './process/within.ts';
import { spentOfCaps } from './spend/ledger.ts';

/** A build at a follower is answered when the cloud has its record for the leader, or after this. Milliseconds. */
const SHARE_WAIT_MS = 3_000;

export function createFront(context: EdgeContext, parts: EdgeParts, links: Links): FastifyInstance {
  const { config, log, ports, running } = context;
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
    catalogueOf: parts.registry.catalogueOf,
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
    registry: parts.registry,
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
    blocked: () => links.blocked.list(),
  });
  const given = new GivenUploads();
  return createEdgeServer({
    paths: {
      ...edgePaths,
      buildTransaction: build,
      createTrustline: trustline,
      repriceTransaction: reprice,
      broadcastTransaction: broadcast,
      getMetrics: links.metrics,
      ...createUploadPath(forwarding, config.publicUrl, given),
      ...createSheetPaths({ upstream: parts.upstream, forwarding, known, log }),
    },
    content: createContentPath({ upstream: parts.upstream, forwarding, given, log }),
    forward: forwarding.forward,
    hearing: createHearing(links.guard),
    statusPage: createStatusPage(statusReader(context, parts, links), ports.wallMs),
    judgeKey: (key) => parts.localKeys.judge(key),
    stopping: () => running.stopping,
    onUndeclared: (refusal) => {
      links.counters.noteUndeclared(refusal);
      log.warn(UNDECLARED, { route: refusal.operationId, code: refusal.code, reason: refusal.by });
    },
    nowMs: ports.wallMs,
    log,
  });
}

function statusReader(
  context: EdgeContext,
  parts: EdgeParts,
  { session, relay, blocked, operations, examined }: Links,
) {
  const { config, log, ports, sessionId, running } = context;
  const liveChains = new LiveChains(parts.upstream, ports.monotonicMs);
  return () =>
    statusOfEdge({
      identity: context.keystore.identity.publicKey,
      liveChains: liveChains.view(),
      config,
      registration: session.registration,
      streamUp: session.streamUp,
      lease: parts.lease.view(),
      outbox: parts.outbox.report(),
      deliveries: relay.load,
      blocked: blocked.list(),
      examined: examined(),
      sweeps: {
        ...operations.report(),
        registryVersion: parts.registry.current.version,
        nowMs: ports.wallMs(),
        windowSeconds: config.spendWindowMs / 1_000,
        caps: spentOfCaps(config.spendCaps, parts.ledger),
      },
      alarms: log.alarms,
      uptimeSeconds: (ports.monotonicMs() - running.startedAtMs) / 1_000,
      sessionId,
      stopping: running.stopping,
    });
}
