/**
 * A whole live Flock over the ten chains of the soak: real PostgreSQL, cloud and edge processes, a receiver of
 * webhooks.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Receiver } from '../../../gateway/cli/webhook-receiver.ts';
import { openDatabase, type Sql } from '../../../persistence/postgres/sql.ts';
import type { Client } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { CHAINS, EVENTS, type Chain } from '../../../protocol/slugs.ts';
import { removeEmbeddedPostgres } from '../../../developer/embedded-postgres.ts';
import type { Deployment } from '../../../developer/deployment.ts';
import { signInAsOwner } from '../company.ts';
import { checkersClient, patiently, startPatientReceiver } from '../patience.ts';
import { openBtc } from './btc.ts';
import { openEvm } from './evm.ts';
import type { Recorded } from './play.ts';
import type { SoakChain } from './soak-chain.ts';
import { openSol } from './sol.ts';
import { openTron } from './tron.ts';
import { openXlm } from './xlm.ts';
import { openXrp } from './xrp.ts';
import { startTestDeployment } from '../test-deployment.ts';

const OPENERS: Partial<Record<Chain, () => Promise<SoakChain>>> = {
  btc: openBtc,
  tron: openTron,
  sol: openSol,
  xrp: openXrp,
  xlm: openXlm,
};

const LOOK_MS = 60;
const LOG_LINES = 25;

export interface TenChains {
  readonly chains: ReadonlyMap<Chain, SoakChain>;
  readonly deployment: Deployment;
  readonly receiver: Receiver;
  readonly client: Client;
  /** As the superuser, for checkers. */
  readonly sql: Sql;
  readonly accountId: string;
  /** Addresses of a chain, issued through the edge. */
  issue(chain: Chain, count: number): Promise<string[]>;
  cursorHeight(chain: Chain): Promise<number>;
  /** As `PlayParts` has it. */
  recorded(txids: readonly string[], wanted: readonly Recorded[], withinMs: number): Promise<boolean>;
  /** Where each chain is, and the last lines of the cloud's log: what to read when the books are wrong. */
  standing(): Promise<string[]>;
  close(): Promise<void>;
}

export interface SoakOptions {
  /** Ledgers to play on; all ten, on stand-ins where no node runs, when absent. */
  readonly ledgers?: ReadonlyMap<Chain, () => Promise<SoakChain>>;
  readonly cloudEnv?: Readonly<Record<string, string>>;
  readonly edgeEnv?: Readonly<Record<string, string>>;
  /** A PostgreSQL of its own, for plays that crash it. */
  readonly ownServer?: boolean;
}

const ALL_TEN: ReadonlyMap<Chain, () => Promise<SoakChain>> = new Map(
  CHAINS.map((slug) => [slug, OPENERS[slug] ?? (() => openEvm(slug))]),
);

/** Starts everything; each chain begins at the head that it then has. */
export async function openTenChains({
  ledgers = ALL_TEN,
  cloudEnv = {},
  edgeEnv = {},
  ownServer = false,
}: SoakOptions = {}): Promise<TenChains> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-soak-'));
  const closing: (() => Promise<unknown> | unknown)[] = [
    () => {
      if (ownServer) removeEmbeddedPostgres(join(dataDir, 'postgres'));
      rmSync(dataDir, { recursive: true, force: true });
    },
  ];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const chains = new Map<Chain, SoakChain>();
    for (const [slug, open] of ledgers) {
      const chain = await open();
      closing.push(() => chain.close());
      chains.set(slug, chain);
    }
    const receiver = await startPatientReceiver();
    closing.push(() => receiver.close());
    const deployment = await startTestDeployment('soak', {
      dataDir,
      environment: 'live',
      ownServer,
      cloudEnv: Object.assign(
        { WEBHOOK_LADDER_SECONDS: '0,1,1,1,1,1,1,1,1,1' },
        ...[...chains.values()].map((chain) => chain.cloudEnv),
        cloudEnv,
      ),
      edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`, ...edgeEnv },
    });
    closing.push(() => deployment.stop());
    const sql = openDatabase({ url: deployment.databaseUrl, connections: 4, name: 'flock-books', role: null });
    closing.push(() => sql.end({ timeout: 5 }));
    // Checkers ask about each withdrawal, again and again.
    await (await signInAsOwner(deployment, 'live')).must('changeBand', { body: { band: 'enterprise' } });
    const client = checkersClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    await patiently(
      'readiness',
      () => client.call('getEdgeReadiness'),
      (view) =>
        !isRefusal(view) &&
        [...chains.keys()].every((chain) => view.content.some((row) => row.chain === chain && row.state === 'ready')),
    );
    const webhook = await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } });
    receiver.setSecret(webhook.secret);
    const accountId = `${deployment.record.organizationId}_live`;
    const statusesOf = async (txids: readonly string[]): Promise<Recorded[]> => {
      const rows = await sql<{ txid: string; status: Recorded }[]>`
        select txid, status from flock.deposit where account_id = ${accountId} and txid in ${sql([...txids])}`;
      return txids.map((txid) => rows.find((row) => row.txid === txid)?.status ?? 'nothing');
    };
    return {
      chains,
      deployment,
      receiver,
      client,
      sql,
      accountId,
      close,
      async issue(chain, count) {
        const issued: string[] = [];
        for (let n = 0; n < count; n += 1) {
          const idempotencyKey = `soak-${chain}-${n}`,
            body = { chain, userRef: idempotencyKey };
          const answer = await patiently('address', () => client.call('createAddress', { body, idempotencyKey }));
          if (isRefusal(answer)) throw new Error(answer.code);
          issued.push(answer.address);
        }
        return issued;
      },
      async cursorHeight(chain) {
        const [row] = await sql<{ height: bigint }[]>`select height from flock.chain_cursor where ledger = ${chain}`;
        return Number(row?.height ?? -1);
      },
      async recorded(txids, wanted, withinMs) {
        const deadline = performance.now() + withinMs;
        for (;;) {
          if ((await statusesOf(txids)).every((status) => wanted.includes(status))) return true;
          if (performance.now() > deadline) return false;
          await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        }
      },
      async standing() {
        const lines = await Promise.all(
          [...chains.values()].map(async ({ chain, headHeight }) => {
            const answer = await client.call('getCoverage', { params: { chain } });
            return `${chain}: ledger at ${await headHeight()}, ${JSON.stringify(answer)}`;
          }),
        );
        return [...lines, ...readFileSync(join(dataDir, 'cloud.log'), 'utf8').trimEnd().split('\n').slice(-LOG_LINES)];
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
