/** A whole Flock as developer mode runs it: sandbox, real processes, real PostgreSQL, a receiver of webhooks. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReceiver, type Receiver } from '../../gateway/cli/webhook-receiver.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { startDeployment, type Deployment } from '../../developer/deployment.ts';
import { patiently } from './company.ts';
import { testServerUrl } from './postgres.ts';

export interface Developer {
  readonly deployment: Deployment;
  readonly receiver: Receiver;
  /** Through the edge, with a local key. */
  readonly atEdge: Client;
  /** The same, which repeats what is answered 503, under one key: a loaded machine is no failure. */
  readonly patient: Client;
  /** At the cloud, with the same account's API key. */
  readonly atCloud: Client;
  /** An issued `eth` address that holds `ether` whole coins, as its own ledger says. */
  fund(ether: string): Promise<string>;
  close(): Promise<void>;
}

let opened = 0;

/** A request again while it is answered 503; what changes something has one Idempotency-Key for all of them. */
const repeating503: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  if (init?.method !== 'GET' && !headers.has('idempotency-key')) headers.set('idempotency-key', randomUUID());
  return patiently(
    'an answer that is no 503',
    () => fetch(url, { ...init, headers }),
    ({ status }) => status !== 503,
  );
};

export async function openDeveloper(options: { cloudEnv?: Readonly<Record<string, string>> } = {}): Promise<Developer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-developer-'));
  const closing: (() => Promise<unknown> | unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    opened += 1;
    const deployment = await startDeployment({
      dataDir,
      cloudPort: 0,
      edgePort: 0,
      environment: 'sandbox',
      durable: false,
      log: () => undefined,
      databaseUrl: await testServerUrl(),
      databaseName: `developer_${process.pid}_${opened}_${Date.now()}`,
      cloudEnv: { WEBHOOK_LADDER_SECONDS: '0,1,1,1', ...options.cloudEnv },
      edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}` },
    });
    closing.push(() => deployment.stop());
    const atEdge = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    const atCloud = createClient({ baseUrl: deployment.cloudUrl, apiKey: deployment.record.sandbox.cloudApiKey });
    await patiently(
      'readiness',
      () => atEdge.call('getEdgeReadiness'),
      (view) => !isRefusal(view) && view.content.some((row) => row.chain === 'eth' && row.state === 'ready'),
    );
    // Nothing can be asked of an edge that does not lead yet.
    await patiently(
      'leader',
      async () => (await fetch(`${deployment.edgeUrl}/metrics`)).text(),
      (text) => text.includes('svc_edge_leader 1'),
    );
    return {
      deployment,
      receiver,
      atEdge,
      atCloud,
      close,
      patient: atEdge.with({ fetch: repeating503 }),
      async fund(ether) {
        const { address } = await atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
        await atEdge.must('simulateDeposit', { body: { chain: 'eth', address, amount: ether, autoConfirm: true } });
        await patiently(
          'balance',
          () => atEdge.call('getBalance', { params: { chain: 'eth', address } }),
          (view) => !isRefusal(view) && view.amount !== '0',
        );
        return address;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
