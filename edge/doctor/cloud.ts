/** What a doctor sees at the cloud with the edge's key. It signs nothing and takes no lease. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { boundedFetch } from '../link/bounded-answer.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { Refused } from '../../protocol/errors.ts';
import { lookAtCertificate, lookAtClock, lookAtName } from '../../protocol/node/doctor/address.ts';
import {
  askingAs,
  fail,
  ok,
  reasonOf,
  unknown,
  warn,
  type Check,
  type Finding,
} from '../../protocol/node/doctor/examine.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import type { EdgeConfig } from '../config.ts';
import { BlockedTargets } from '../webhooks/blocked-targets.ts';
import { createWebhookPolicy, type WebhookPolicy } from '../webhooks/policy.ts';

const SETTING = 'CLOUD_URL';
const PAGES_MAX = 20;
const PAGE = '200';

type Endpoint = ReplyOf<'listWebhooks'>['content'][number];
type ReadPolicy = ReplyOf<'listSweepPolicies'>['content'][number];

export function cloudChecks(config: EdgeConfig): Check[] {
  const { cloudUrl, apiKey, environment } = config;
  const client = createClient({ baseUrl: cloudUrl, apiKey, fetch: boundedFetch });
  const isLive = environment === 'live';
  const codeOf = (error: unknown) => (error instanceof Refused ? error.refusal.code : null),
    asking = askingAs('the cloud', 'cloud and key', codeOf);
  return [
    { id: 'cloud_name', page: 'docs/configuration.md#edge-npm-run-edge', look: () => lookAtName(cloudUrl, SETTING) },
    { id: 'cloud', page: 'docs/runbooks/down.md', look: (signal) => cloudFinding(cloudUrl, signal) },
    {
      id: 'certificate',
      page: 'docs/runbooks/certificate-ends.md',
      look: (signal) => lookAtCertificate(cloudUrl, { setting: SETTING, isLive, signal }),
    },
    { id: 'clock', page: 'docs/runbooks/clock-off.md', look: (signal) => clockFinding(cloudUrl, signal) },
    {
      id: 'key',
      page: 'docs/configuration.md#edge-npm-run-edge',
      look: (signal) => keyFinding(client, environment, signal),
    },
    {
      id: 'enrolment',
      page: 'docs/doctor.md#edge',
      look: asking((signal) => enrolmentFinding(client, config, signal)),
    },
    { id: 'lease', page: 'docs/runbooks/edge-offline.md', look: asking((signal) => leaseFinding(client, signal)) },
    { id: 'targets', page: 'docs/webhooks.md', look: asking((signal) => targetsFinding(client, config, signal)) },
    { id: 'sweeps', page: 'docs/treasury.md', look: asking((signal) => sweepsFinding(client, config, signal)) },
  ];
}

const alive = (cloudUrl: string, signal: AbortSignal): Promise<Response> =>
  fetch(new URL('/health/live', cloudUrl), { redirect: 'manual', signal });

async function cloudFinding(cloudUrl: string, signal: AbortSignal): Promise<Finding> {
  try {
    const { status } = await alive(cloudUrl, signal);
    if (status === 200) return ok('it answers');
    return fail(`it answers ${status} to its health`, status < 500 ? `correct ${SETTING}` : 'look at the cloud');
  } catch (error) {
    if (signal.aborted) throw error;
    return fail(`nothing answers (${reasonOf(error)})`, `correct ${SETTING}, or look at the network on the way`);
  }
}

async function clockFinding(cloudUrl: string, signal: AbortSignal): Promise<Finding> {
  const askedMs = Date.now();
  const { headers } = await alive(cloudUrl, signal);
  return lookAtClock({ askedMs, answeredMs: Date.now(), date: headers.get('date') });
}

async function keyFinding(
  client: Client,
  environment: EdgeConfig['environment'],
  signal: AbortSignal,
): Promise<Finding> {
  const { status, outcome } = await client.ask('getEdgeLease', { signal });
  if (status === 200) return ok(`a key of the cloud, ${environment}; it is taken`);
  if (status === 401 || status === 403)
    return fail(`the cloud refuses it (${status})`, 'mint a new key, and set API_KEY_FILE or API_KEY');
  const code = 'code' in outcome ? outcome.code : status;
  return unknown(`the cloud answered ${code}`, 'look at the check cloud first');
}

async function enrolmentFinding(client: Client, { chains }: EdgeConfig, signal: AbortSignal): Promise<Finding> {
  const { content } = await client.must('getEdgeReadiness', { signal });
  const own = content.filter(({ chain }) => chains.includes(chain));
  const waiting = own.filter(({ state }) => state === 'not_ready' || state === 'quarantined');
  const [first] = waiting;
  if (first === undefined) return ok(`registered for ${own.length} chains`);
  const seen = `${waiting.length} of ${own.length} chains are not ready: ${first.chain} ${first.reason ?? first.state}`;
  return fail(seen, 'start the edge; if its phrase was changed an owner approves the new identity in the console');
}

async function leaseFinding(client: Client, signal: AbortSignal): Promise<Finding> {
  const { state, epoch } = await client.must('getEdgeLease', { signal });
  return state === 'held'
    ? ok(`a replica leads (epoch ${epoch})`)
    : fail('no replica leads: webhooks wait, and nothing is signed', 'start the edge, and look at its log');
}

/** The rules of this edge for the URL of each endpoint, and for each address that its name has now. */
async function targetsFinding(client: Client, config: EdgeConfig, signal: AbortSignal): Promise<Finding> {
  const { environment, webhookAllowlist: allowlist } = config;
  const policy = createWebhookPolicy({ environment, allowlist, ownPort: () => config.port });
  const judged = await Promise.all(
    (await endpointsOf(client, signal)).map(async ({ url }) => ({ url, reason: await judge(policy, url) })),
  );
  const blocked = judged.filter((one): one is { url: string; reason: string } => one.reason !== null);
  const [first] = blocked;
  if (first === undefined) return ok(`${judged.length} endpoints are within the rules`);
  const { target, reason, next } = new BlockedTargets(Date.now).note(first.url, first.reason);
  return fail(`${blocked.length} of ${judged.length} endpoints are held back: ${target} (${reason})`, next);
}

async function endpointsOf(client: Client, signal: AbortSignal): Promise<Endpoint[]> {
  const all: Endpoint[] = [];
  let after: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: { size: string; after?: string } = after === null ? { size: PAGE } : { size: PAGE, after };
    const { content, next }: ReplyOf<'listWebhooks'> = await client.must('listWebhooks', { query, signal });
    all.push(...content.filter(({ status }) => status === 'enabled'));
    if (next === null) return all;
    after = next;
  }
  throw new RangeError('endpoints');
}

async function judge(policy: WebhookPolicy, text: string): Promise<string | null> {
  const place = policy.judgeUrl(text);
  if (typeof place === 'string') return place;
  const { host, port, url } = place;
  if (isIP(host) !== 0) return null;
  try {
    const found = await lookup(host, { all: true });
    const target = { host, port, secure: url.protocol === 'https:' };
    return found.map(({ address }) => policy.judgeAddress(target, address)).find((one) => one !== null) ?? null;
  } catch (error) {
    return reasonOf(error);
  }
}

async function sweepsFinding(client: Client, { spendCaps }: EdgeConfig, signal: AbortSignal): Promise<Finding> {
  const { content } = await client.must('listSweepPolicies', { signal });
  const on = content.filter(({ enabled, pausedAt }: ReadPolicy) => enabled && pausedAt === null);
  const capped = [...new Set(on.map(({ chain }) => chain))].filter((chain) => (spendCaps.get(chain) ?? 0n) === 0n);
  const [chain] = capped;
  if (chain === undefined)
    return ok(on.length === 0 ? 'no policy is on' : `${on.length} policies are on, each with a cap`);
  return warn(
    `policies of ${capped.join(', ')} are on, and this edge lets the cloud spend nothing there`,
    `set EDGE_SPEND_CAP_${chain.toUpperCase()}, or pause the policies`,
  );
}
