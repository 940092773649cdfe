/**
 * One edge, put together: configuration and keystore in, a serving process out. No environment and no signals here.
 * Order of construction: parts.ts (disk, clocks, keys) · links.ts (cloud, signing, webhooks) · front.ts (HTTP).
 */
import type { FastifyInstance } from 'fastify';
import { EDGE_VERSION } from '../protocol/frames.ts';
import { newId } from '../protocol/node/ids.ts';
import type { EdgeConfig } from './config.ts';
import { createFront } from './front.ts';
import type { Keystore } from './keystore/keystore.ts';
import { ATTESTATION_LOOK_MS } from './link/attestations.ts';
import { AUDIT_LOOK_MS } from './link/audit-keeper.ts';
import { claimSessionId } from './link/session-id.ts';
import { linkUp, type EdgeContext, type Links } from './links.ts';
import { KEY_SHELF_MS } from './local-keys/key-shelf.ts';
import { openParts, type EdgeParts, type EdgePorts } from './parts.ts';
import type { EdgeLog } from './process/log.ts';
import { within } from './process/within.ts';
import { loadSigner } from './signing/signer-loader.ts';
import { markIfPossible, SPEND_MARK_MS } from './spend/clock.ts';

/** A graceful stop in parts that add up to less than 10 s. Milliseconds. */
const REQUESTS_STOP_MS = 4_000;
const OUTBOX_STOP_MS = 2_000;
const RELEASE_STOP_MS = 1_000;
export interface RunningEdge {
  /** Port that it listens on. */
  readonly port: number;
  readonly sessionId: string;
  /** Resolves when the cloud confirmed the registration for the first time. */
  readonly registered: Promise<void>;
  /** Ends everything within 10 s: what was answered is durable, what was not is answered with 503. */
  stop(): Promise<void>;
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
  const context: EdgeContext = { config, keystore, log, ports, sessionId, running };
  const links = linkUp(context, parts);
  startClocks(context, parts, links);
  const server = createFront(context, parts, links);
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
  links.session.start(links.takers);
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

/**
 * What runs by the clock from the start: the mark of the spend clock, the looks at the audit log and at missing
 * statements, and the shelf of local keys.
 */
function startClocks({ config }: EdgeContext, parts: EdgeParts, { session, audit, attestations }: Links): void {
  parts.timers.every(SPEND_MARK_MS, () => markSpendTime(parts));
  parts.timers.every(AUDIT_LOOK_MS, () => void audit.look());
  parts.timers.every(ATTESTATION_LOOK_MS, () => void attestations.look());
  if (config.spendLedger === null) return;
  const readKeys = () => void parts.keyShare.readShelf().then(() => session.shareKeys());
  readKeys();
  parts.timers.every(KEY_SHELF_MS, readKeys);
}

function markSpendTime({ spendClock, sharedSpend }: EdgeParts): void {
  markIfPossible(spendClock);
  sharedSpend?.mark();
}

async function endAll(parts: EdgeParts, links: Links, keystore: Keystore): Promise<void> {
  links.refills.stop();
  links.attestations.stop();
  // Signalled first, awaited last: neither a pause nor a cloud that does not answer may delay the end.
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
