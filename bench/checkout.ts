/** What P21 and P22 share: a sandbox whose links take payments, and payers of many addresses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { startDeployment, type Deployment } from '../developer/deployment.ts';
import { createClient } from '../protocol/client.ts';

/** Openings of one client address and of one link are limited (payments S20): payers of the benchmark are many. */
const OPENINGS_OF_CLIENT = 100;

export interface Checkout {
  readonly deployment: Deployment;
  readonly agent: Agent;
  readonly origin: string;
  readonly apiKey: string;
  /** Opens a payment of a new payer. Throws: Error with what was answered. */
  open(slug: string): Promise<{ paymentId: string; address: string }>;
  link(): Promise<string>;
  close(): Promise<void>;
}

export async function openCheckout(connections: number): Promise<Checkout> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir,
    cloudPort: 0,
    edgePort: 0,
    environment: 'sandbox',
    log: () => undefined,
    cloudEnv: {
      LOG_LEVEL: 'warn',
      SANDBOX_REQUESTS_PER_MINUTE: '100000000',
      TRUSTED_PROXIES: '127.0.0.1,::1',
      CHECKOUT_UNPAID_MAX: '1000000',
    },
  });
  const agent = new Agent({ connections, pipelining: 1 }),
    { origin } = new URL(deployment.cloudUrl),
    apiKey = deployment.record.sandbox.cloudApiKey;
  const client = createClient({ baseUrl: origin, apiKey });
  let opened = 0;
  return {
    deployment,
    agent,
    origin,
    apiKey,
    async open(slug) {
      const client = Math.floor((opened += 1) / OPENINGS_OF_CLIENT);
      const email = `payer-${opened}@example.com`;
      const reply = await agent.request({
        origin,
        path: `/v1/checkout/links/${slug}/donate`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.1.${client >> 8}.${client & 255}` },
        body: JSON.stringify({ email }),
      });
      const text = await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`an opening was answered ${reply.statusCode} ${text}`);
      const { data } = JSON.parse(text) as { data: { paymentId: string; address: string } };
      return data;
    },
    async link() {
      const body = { mode: 'donation', chain: 'eth', asset: 'USDC', thresholdAmount: '1000000000' } as const;
      return (await client.must('createPaymentLink', { body })).slug;
    },
    async close() {
      await agent.close();
      await deployment.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
