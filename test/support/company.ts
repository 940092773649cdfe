/**
 * A whole Flock for fault tests: real PostgreSQL, cloud and edge processes, anvil, a receiver, a patient application.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import { startReceiver, type Receiver } from '../../gateway/cli/webhook-receiver.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { EVENTS } from '../../protocol/slugs.ts';
import { startAnvil, type Anvil } from '../../developer/anvil.ts';
import { removeEmbeddedPostgres } from '../../developer/embedded-postgres.ts';
import { startDeployment, type Deployment } from '../../developer/deployment.ts';
import { testServerUrl } from './postgres.ts';

/** Small enough that a story is quick; a real named setting of the cloud. */
export const CONFIRMATIONS = 3;
const PATIENCE_MS = 120_000;
const WARM_UP_BLOCKS = 20;
const PAUSE_MS = 50;

export interface Company {
  readonly deployment: Deployment;
  readonly anvil: Anvil;
  readonly receiver: Receiver;
  readonly client: Client;
  /** As the superuser, for checkers. */
  readonly sql: Sql;
  readonly accountId: string;
  readonly payer: string;
  pay(address: string, amount: bigint): Promise<string>;
  mine(blocks: number): Promise<void>;
  close(): Promise<void>;
}

/** Asks again while parts are down, as a careful application does: same call, same idempotency key. */
export async function patiently<T>(
  what: string,
  ask: () => Promise<T>,
  good: (value: T) => boolean = () => true,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await ask();
      if (!isRefusal(value) && good(value)) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(
    `${what}: not within ${PATIENCE_MS} ms; last ${last instanceof Error ? last.message : JSON.stringify(last)}`,
  );
}

/** Fault tests ask more often than the first band allows; the owner signs in and buys the largest. */
async function buyLargestBand({ cloudUrl, record: { owner } }: Deployment): Promise<void> {
  const totp = generateSync({ secret: owner.totpSecret, epoch: Math.floor(Date.now() / 1_000) });
  const { accessToken } = await createClient({ baseUrl: cloudUrl }).must('login', {
    body: { email: owner.email, password: owner.password, totp },
  });
  await createClient({ baseUrl: cloudUrl, bearer: accessToken, environment: 'live' }).must('changeBand', {
    body: { band: 'enterprise' },
  });
}

export interface CompanyOptions {
  readonly cloudEnv?: Record<string, string>;
  /** A PostgreSQL of its own, for tests that crash it. */
  readonly ownServer?: boolean;
}

export async function openCompany(options: CompanyOptions = {}): Promise<Company> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-company-'));
  const closing: (() => Promise<unknown> | unknown)[] = [
    () => {
      if (options.ownServer === true) removeEmbeddedPostgres(join(dataDir, 'postgres'));
      rmSync(dataDir, { recursive: true, force: true });
    },
  ];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const anvil = await startAnvil({ chainId: 1, automine: false });
    closing.push(() => anvil.stop());
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    const deployment = await startDeployment({
      dataDir,
      cloudPort: 0,
      edgePort: 0,
      environment: 'live',
      durable: false,
      log: () => undefined,
      ...(options.ownServer === true ? {} : { databaseUrl: await testServerUrl() }),
      databaseName: `company_${process.pid}_${Date.now()}`,
      cloudEnv: {
        ETH_RPC_URLS: anvil.url,
        ETH_POLL_MS: '50',
        ETH_SECOND_READ_MS: '500',
        ETH_CONFIRMATIONS: String(CONFIRMATIONS),
        ETH_START_HEIGHT: '0',
        WEBHOOK_LADDER_SECONDS: '0,1,1,1,1,1,1,1,1,1',
        ...options.cloudEnv,
      },
      edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}` },
    });
    closing.push(() => deployment.stop());
    const sql = openDatabase({ url: deployment.databaseUrl, connections: 2, name: 'flock-books', role: null });
    closing.push(() => sql.end({ timeout: 5 }));
    await buyLargestBand(deployment);
    const client = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    const [payer] = await anvil.rpc<string[]>('eth_accounts');
    await patiently(
      'readiness',
      () => client.call('getEdgeReadiness'),
      (view) => !isRefusal(view) && view.content.some((row) => row.chain === 'eth' && row.state === 'ready'),
    );
    await anvil.rpc('anvil_mine', [`0x${WARM_UP_BLOCKS.toString(16)}`]); // deep enough for every reorg
    const webhook = await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } });
    receiver.setSecret(webhook.secret);
    const mine = async (blocks: number): Promise<void> => {
      await anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    };
    return {
      deployment,
      anvil,
      receiver,
      client,
      sql,
      close,
      mine,
      payer: payer!,
      accountId: `${deployment.record.organizationId}_live`,
      async pay(address, amount) {
        return anvil.rpc<string>('eth_sendTransaction', [
          { from: payer, to: address, value: `0x${amount.toString(16)}` },
        ]);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
