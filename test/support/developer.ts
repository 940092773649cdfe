/** A whole Flock as developer mode runs it: sandbox, real processes, real PostgreSQL, a receiver of webhooks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Receiver } from '../../gateway/cli/webhook-receiver.ts';
import type { Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Deployment } from '../../developer/deployment.ts';
import { calmClient, patientClient, patiently, startPatientReceiver } from './patience.ts';
import { startTestDeployment } from './test-deployment.ts';

export interface Developer {
  readonly deployment: Deployment;
  readonly receiver: Receiver;
  /** Through the edge, with a local key. */
  readonly atEdge: Client;
  /** The same, for those to whom no 503 means anything. */
  readonly calm: Client;
  /** At the cloud, with the same account's API key. */
  readonly atCloud: Client;
  /** An issued `eth` address that holds `ether` whole coins, as its own ledger says. */
  fund(ether: string): Promise<string>;
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string>>;

export async function openDeveloper(options: { cloudEnv?: Env; edgeEnv?: Env } = {}): Promise<Developer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-developer-'));
  const closing: (() => Promise<unknown> | unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const receiver = await startPatientReceiver();
    closing.push(() => receiver.close());
    const deployment = await startTestDeployment('developer', {
      dataDir,
      environment: 'sandbox',
      cloudEnv: { WEBHOOK_LADDER_SECONDS: '0,1,1,1', ...options.cloudEnv },
      edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`, ...options.edgeEnv },
    });
    closing.push(() => deployment.stop());
    const edge = { baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey };
    const atEdge = patientClient(edge);
    const atCloud = patientClient({ baseUrl: deployment.cloudUrl, apiKey: deployment.record.sandbox.cloudApiKey });
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
      calm: calmClient(edge),
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
