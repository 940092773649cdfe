/**
 * A whole Flock for fault tests: real PostgreSQL, cloud and edge processes, anvil, a receiver, a patient application.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Receiver } from '../../gateway/cli/webhook-receiver.ts';
import { openDatabase, type Sql } from '../../persistence/postgres/sql.ts';
import type { Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { EVENTS, type Environment } from '../../protocol/slugs.ts';
import { startAnvil, type Anvil } from '../../developer/anvil.ts';
import { removeEmbeddedPostgres } from '../../developer/embedded-postgres.ts';
import type { Deployment } from '../../developer/deployment.ts';
import { codeOf } from './gateway.ts';
import { patientClient, patiently, startPatientReceiver } from './patience.ts';
import { startTestDeployment } from './test-deployment.ts';

export { patiently } from './patience.ts';

/** Small enough that a story is quick; a real named setting of the cloud. */
export const CONFIRMATIONS = 3;
/** Kinds that the release before this one has too. */
const TOLD = /^(?:address|deposit|edge|identity|pool|sweep|withdrawal)_/;
const WARM_UP_BLOCKS = 20;

export interface Company {
  readonly deployment: Deployment;
  readonly anvil: Anvil;
  readonly receiver: Receiver;
  readonly client: Client;
  /** As the superuser, for checkers. */
  readonly sql: Sql;
  readonly accountId: string;
  /** Where its processes log. */
  readonly dataDir: string;
  readonly payer: string;
  pay(address: string, amount: bigint): Promise<string>;
  mine(blocks: number): Promise<void>;
  close(): Promise<void>;
}

/** The owner's bearer, as `signInAs` has it. */
export const signInAsOwner = (
  deployment: Pick<Deployment, 'cloudUrl' | 'record'>,
  environment: Environment,
): Promise<Client> => signInAs(deployment, deployment.record.owner, environment);

/**
 * A person's bearer, with a fresh second factor. Each code is taken once: where an answer got lost, the next one is
 * good too. Throws: Error with the refusal.
 */
export async function signInAs(
  { cloudUrl }: Pick<Deployment, 'cloudUrl'>,
  person: Deployment['record']['owner'],
  environment: Environment,
): Promise<Client> {
  const open = patientClient({ baseUrl: cloudUrl });
  const ask = (stepsFromNow: number) =>
    open.call('login', {
      body: { email: person.email, password: person.password, totp: codeOf(person, stepsFromNow) },
    });
  const first = await ask(0),
    answer = isRefusal(first) ? await ask(1) : first;
  if (isRefusal(answer)) throw new Error(`${answer.code} ${JSON.stringify(answer.details)}`);
  return patientClient({ baseUrl: cloudUrl, bearer: answer.accessToken, environment });
}

export interface CompanyOptions {
  readonly cloudEnv?: Record<string, string>;
  /** File of the cloud, where it is not today's. */
  readonly cloud?: string;
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
    const receiver = await startPatientReceiver();
    closing.push(() => receiver.close());
    const deployment = await startTestDeployment('company', {
      dataDir,
      environment: 'live',
      ownServer: options.ownServer,
      cloud: options.cloud,
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
    // Fault tests ask more often than the first band allows.
    await (await signInAsOwner(deployment, 'live')).must('changeBand', { body: { band: 'enterprise' } });
    const client = patientClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    const [payer] = await anvil.rpc<string[]>('eth_accounts');
    await patiently(
      'readiness',
      () => client.call('getEdgeReadiness'),
      (view) => !isRefusal(view) && view.content.some((row) => row.chain === 'eth' && row.state === 'ready'),
    );
    await anvil.rpc('anvil_mine', [`0x${WARM_UP_BLOCKS.toString(16)}`]); // deep enough for every reorg
    const webhook = await client.must('createWebhook', {
      body: { url: receiver.url, events: EVENTS.filter((event) => TOLD.test(event)) },
    });
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
      dataDir,
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
