/** A cloud that is told to stop while it works: what it answered is there when it comes back. */
import test from 'ava';
import type { Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { DRAIN_DEADLINE_MS } from '../../supervision/drain.ts';
import { signInAsOwner } from '../support/company.ts';
import { patientClient, patiently } from '../support/patience.ts';
import { openDeveloper } from '../support/developer.ts';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';
const CALLERS = 12;
/** Answers of each kind before the signal: enough that all kinds are at work when it comes. */
const ANSWERS_BEFORE = 15;

type Kind = 'addresses' | 'deposits' | 'webhooks' | 'changed webhooks' | 'transactions' | 'API keys';
/** What a 2xx promised, as a check that is made after the restart. */
type Promised = () => Promise<unknown>;

test('issue 2.2 SIGTERM under load: exit within 10 s, and every 2xx answered before it is readable after the restart', async (t) => {
  t.timeout(600_000);
  const flock = await openDeveloper({ cloudEnv: { SANDBOX_REQUESTS_PER_MINUTE: '100000000' } });
  try {
    const { atCloud, deployment } = flock;
    const from = await flock.fund('1000');
    const promised: Record<Kind, Promised[]> = {
      addresses: [],
      deposits: [],
      webhooks: [],
      'changed webhooks': [],
      transactions: [],
      'API keys': [],
    };
    const load = callsOf({
      atCloud,
      owner: await signInAsOwner(deployment, 'sandbox'),
      cloudUrl: deployment.cloudUrl,
      from,
      promised,
    });
    const state = { stopping: false };
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = caller; ; n += 1) {
        const outcome = await load[n % load.length]!();
        if (!isRefusal(outcome)) continue;
        // Turned away, or nobody there any more: neither is a 2xx.
        if (state.stopping && ['SERVICE_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE', 'INTERNAL_ERROR'].includes(outcome.code))
          return;
        throw new Error(`${outcome.code} ${JSON.stringify(outcome.details)}`);
      }
    });
    const enough = async () => Object.values(promised).every((checks) => checks.length >= ANSWERS_BEFORE);
    await Promise.race([patiently('load', enough, (is) => is), Promise.all(callers)]);

    state.stopping = true;
    const toldAt = performance.now();
    deployment.cloud.kill('SIGTERM');
    // 0 is the answer of a drain that ended before the process's own deadline; a stopwatch out here would time the
    // machine.
    t.is(await deployment.cloud.exited, 0);
    t.true(DRAIN_DEADLINE_MS < 10_000);
    const tookMs = performance.now() - toldAt;
    await Promise.all(callers);

    await deployment.restartCloud();
    for (const [kind, checks] of Object.entries(promised)) {
      const missing: string[] = [];
      for (const check of checks) await check().catch((error: unknown) => missing.push(String(error)));
      t.deepEqual(missing, [], kind);
    }
    t.log(
      `${Math.round(tookMs)} ms; ${Object.entries(promised)
        .map(([kind, checks]) => `${checks.length} ${kind}`)
        .join(', ')}`,
    );
  } finally {
    await flock.close();
  }
});

/** One call of each kind, which notes what its 2xx promised. */
function callsOf({
  atCloud,
  owner,
  cloudUrl,
  from,
  promised,
}: {
  atCloud: Client;
  owner: Client;
  cloudUrl: string;
  from: string;
  promised: Record<Kind, Promised[]>;
}): (() => Promise<unknown>)[] {
  let nth = 0;
  const issued: string[] = [from];
  const noted = async <T extends object>(
    kind: Kind,
    asked: Promise<T>,
    check: (reply: Exclude<T, { ok: false }>) => Promise<unknown>,
  ): Promise<T> => {
    const outcome = await asked;
    if (!isRefusal(outcome)) promised[kind].push(() => check(outcome as Exclude<T, { ok: false }>));
    return outcome;
  };
  const same = (what: string, found: unknown, wanted: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new Error(`${what}: ${JSON.stringify(found)} for ${JSON.stringify(wanted)}`);
  };
  return [
    async () => {
      const address = await noted(
        'addresses',
        atCloud.call('createAddress', { body: { chain: 'eth', userRef: `n-${(nth += 1)}` } }),
        async (made) => same('address', await atCloud.must('getAddress', { params: { id: made.id } }), made),
      );
      if (!isRefusal(address)) issued.push(address.address);
      return address;
    },
    () => {
      const address = issued[nth % issued.length]!;
      return noted(
        'deposits',
        atCloud.call('simulateDeposit', { body: { chain: 'eth', address, amount: '1', autoConfirm: true } }),
        ({ txid }) =>
          // What was recorded and not yet decided is decided by the node that comes back.
          patiently(
            txid,
            async () => depositsOf(atCloud),
            (txids) => txids.has(txid),
          ),
      );
    },
    async () => {
      const made = await noted(
        'webhooks',
        atCloud.call('createWebhook', {
          body: { url: `http://127.0.0.1:9/${(nth += 1)}`, events: ['deposit_detected'] },
        }),
        async ({ id, url }) =>
          same('webhook', (await atCloud.must('getWebhook', { params: { webhookId: id } })).url, url),
      );
      if (isRefusal(made)) return made;
      const body = { url: made.url, events: ['deposit_confirmed' as const] };
      const params = { webhookId: made.id };
      return noted('changed webhooks', atCloud.call('replaceWebhook', { params, body }), async ({ events }) =>
        same('webhook', (await atCloud.must('getWebhook', { params })).events, events),
      );
    },
    () =>
      noted(
        'transactions',
        atCloud.call('buildTransaction', { body: { chain: 'eth', from, to: TO, amount: '1000' } }),
        ({ id }) => atCloud.must('getTransaction', { params: { id } }),
      ),
    () =>
      noted(
        'API keys',
        owner.call('mintApiKey', { body: { label: `n-${(nth += 1)}`, environment: 'sandbox' } }),
        ({ key }) => patientClient({ baseUrl: cloudUrl, apiKey: key }).must('listWebhooks'),
      ),
  ];
}

/** Transactions of every deposit that the cloud lists. */
async function depositsOf(atCloud: Client): Promise<Set<string>> {
  const txids = new Set<string>();
  for (let page = 0; ; page += 1) {
    const { content } = await atCloud.must('listTransactions', {
      query: { direction: 'in', page: String(page), size: '200' },
    });
    for (const { txid } of content) if (txid !== null) txids.add(txid);
    if (content.length < 200) return txids;
  }
}
