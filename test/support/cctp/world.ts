/**
 * A company that bridges: two EVM nodes with the contracts of CCTP v2, an attestation service, a cloud and an edge as
 * processes, and a version of the token registry that has the routes of this release open. Treasury H13.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from '../../../chains/catalogue.ts';
import { registrySigningText } from '../../../chains/registry-signature.ts';
import { networkOf } from '../../../chains/registry.ts';
import { startAnvil, type Anvil } from '../../../developer/anvil.ts';
import type { Deployment } from '../../../developer/deployment.ts';
import { openDatabase, type Sql } from '../../../persistence/postgres/sql.ts';
import type { Client } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { BodyOf, ReplyOf } from '../../../protocol/routes.ts';
import { signInAs } from '../company.ts';
import { ROUTED } from '../edge/bridges.ts';
import { REGISTRY_KEYS } from '../edge/registry.ts';
import { patientClient, patiently } from '../patience.ts';
import { openLedger, type BridgedLedger } from './contracts.ts';
import { startAttestations, type AttestationService } from './service.ts';
import { startTestDeployment } from '../test-deployment.ts';

export const THRESHOLD = 3;
const SLOTS_IN_EPOCH = 2,
  WARM_UP_BLOCKS = 20;
const COIN = 10n ** 18n;

export type Transfer = ReplyOf<'getBridgeTransfer'>;
export type Policy = ReplyOf<'createBridgePolicy'>;

export interface BridgeWorld {
  readonly deployment: Deployment;
  readonly from: BridgedLedger;
  readonly to: BridgedLedger;
  readonly service: AttestationService;
  /** At the edge. */
  readonly client: Client;
  readonly atCloud: Client;
  readonly sql: Sql;
  /** Of the company, on both chains. */
  readonly treasury: string;
  readonly tank: string;
  policy(more?: Partial<BodyOf<'createBridgePolicy'>>): Promise<Policy>;
  /** Blocks on both chains. */
  mine(blocks?: number): Promise<void>;
  /** A block, and a look at a transfer; one that waits for its attestation is gone on with at once. */
  step(id: string): Promise<Transfer>;
  /** The transfer once it is so, step by step. */
  reaches(id: string, what: string, so: (transfer: Transfer) => boolean): Promise<Transfer>;
  close(): Promise<void>;
}

/** From Ethereum to Base. */
export async function openBridgeWorld(
  more: { cloudEnv?: Record<string, string>; edgeEnv?: Record<string, string> } = {},
): Promise<BridgeWorld> {
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const dataDir = mkdtempSync(join(tmpdir(), 'flock-bridge-'));
    closing.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const nodeOf = async (chainId: number): Promise<Anvil> => {
      const anvil = await startAnvil({ chainId, automine: false, slotsInEpoch: SLOTS_IN_EPOCH });
      closing.push(() => anvil.stop());
      return anvil;
    };
    const nodes = [await nodeOf(1), await nodeOf(8_453)] as const;
    const [from, to] = [await openLedger('eth', nodes[0]), await openLedger('base', nodes[1])];
    const mine = async (blocks = 1): Promise<void> => {
      await Promise.all(nodes.map((node) => node.rpc('anvil_mine', [`0x${blocks.toString(16)}`])));
    };
    await mine(WARM_UP_BLOCKS);
    const service = await startAttestations([from, to]);
    closing.push(() => service.close());
    const deployment = await startTestDeployment('bridge', {
      dataDir,
      environment: 'live',
      cloudEnv: {
        ...settingsOf('ETH', nodes[0]),
        ...settingsOf('BASE', nodes[1]),
        CCTP_API_URL: service.url,
        EDGE_LEASE_TTL: '6',
        REGISTRY_KEYS: KEYS,
        ...more.cloudEnv,
      },
      edgeEnv: { EDGE_REGISTRY_KEYS: KEYS, ...CAPS, ...more.edgeEnv },
    });
    closing.push(() => deployment.stop());
    const sql = openDatabase({ url: deployment.databaseUrl, connections: 2, name: 'flock-bridge', role: null });
    closing.push(() => sql.end({ timeout: 5 }));
    const owner = await openRoutes(deployment, sql);
    await owner.must('changeBand', { body: { band: 'enterprise' } });
    const client = patientClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    await patiently(
      'readiness and routes',
      async () => [await client.call('getEdgeReadiness'), await client.call('listTokenRoutes')] as const,
      ([ready, routes]) =>
        !isRefusal(ready) &&
        !isRefusal(routes) &&
        ['eth', 'base'].every((chain) => ready.content.some((row) => row.chain === chain && row.state === 'ready')) &&
        routes.routes.some((way) => way.from === 'eth' && way.to === 'base' && way.status === 'open'),
    );
    const { treasury, tank, wallets } = await walletsOf(client);
    for (const node of nodes)
      for (const address of [treasury, tank]) await node.rpc('anvil_setBalance', [address, `0x${COIN.toString(16)}`]);
    await mine(THRESHOLD);
    const step = async (id: string): Promise<Transfer> => {
      await mine();
      const view = await client.must('getBridgeTransfer', { params: { id } });
      // Its typical time is 19 minutes, which nobody here waits for.
      if (view.state === 'ATTESTING') await client.call('retryBridgeTransfer', { params: { id } });
      return view;
    };
    return {
      deployment,
      from,
      to,
      service,
      client,
      atCloud: patientClient({ baseUrl: deployment.cloudUrl, apiKey: deployment.record.live.cloudApiKey }),
      sql,
      treasury,
      tank,
      mine,
      step,
      close,
      policy: (settings = {}) => client.must('createBridgePolicy', { body: { ...wallets, ...LIMITS, ...settings } }),
      reaches: (id, what, so) => patiently(`${id}: ${what}`, () => step(id), so),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const KEYS = REGISTRY_KEYS.map(({ publicKey }) => publicKey).join();
const CAPS = {
  EDGE_SPEND_CAP_ETH: String(COIN),
  EDGE_SPEND_CAP_BASE: String(COIN),
  EDGE_BRIDGE_CAP_ETH: String(10_000_000_000_000n),
};
const LIMITS = {
  fromChain: 'eth' as const,
  toChain: 'base' as const,
  token: 'USDC',
  maxSingleTransfer: '5000000000',
  maxInFlightValue: '20000000000',
  maxInFlightCount: 10,
  enabled: true,
};

const settingsOf = (chain: 'ETH' | 'BASE', { url }: Anvil): Record<string, string> => ({
  [`${chain}_RPC_URLS`]: url,
  [`${chain}_POLL_MS`]: '50',
  [`${chain}_SECOND_READ_MS`]: '500',
  [`${chain}_CONFIRMATIONS`]: String(THRESHOLD),
  [`${chain}_START_HEIGHT`]: '0',
});

/** By two administrators and two registry keys; the second administrator is the owner, whose client this answers. */
async function openRoutes(deployment: Deployment, sql: Sql): Promise<Client> {
  const { admin, owner } = deployment.record;
  await sql`update flock.console_user set platform_role = 'admin' where email = ${owner.email}`;
  const [first, second] = [await signInAs(deployment, admin, 'live'), await signInAs(deployment, owner, 'live')];
  const routes = ROUTED.routes.map(({ symbol, from, to }) => ({ symbol, from, to, status: 'open' as const }));
  const { id } = await first.must('proposeRegistryVersion', { body: { routes } });
  const { content } = await second.must('getProposedVersion', { params: { id } });
  const signatures = REGISTRY_KEYS.slice(0, 2).map((key) =>
    key.sign(registrySigningText(JSON.parse(content) as Registry)).toString('hex'),
  );
  await second.must('publishRegistryProposal', { params: { id }, body: { content, signatures } });
  return second;
}

async function walletsOf(client: Client) {
  const wallet = async (chain: 'eth' | 'base') =>
    client.must('createTreasuryWallet', { body: { chain, source: 'derived' } });
  const [source, destination] = [await wallet('eth'), await wallet('base')];
  for (const chain of ['eth', 'base'] as const) await client.must('createFundingWallet', { body: { chain } });
  const { content } = await client.must('listFundingWallets');
  const tank = content.find(({ chain }) => chain === networkOf('base').slug)!.address!;
  return {
    treasury: source.address!,
    tank,
    wallets: { sourceWalletId: source.id, destinationWalletId: destination.id },
  };
}
