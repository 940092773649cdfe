/** Twenty requests at once for the last place of a limit: one has it. Console B19. */
import test from 'ava';
import type { Client } from '../../protocol/client.ts';
import { enrol, startTestCloud, type TestOrganization } from '../support/gateway.ts';

const NODE = 'http://127.0.0.1:9';
const CHAINS = ['eth', 'polygon', 'bsc', 'avax', 'base'] as const;
// Without schedules: the one that opens months would load an account before its counters are put there.
const cloud = await startTestCloud({
  ...Object.fromEntries(CHAINS.map((chain) => [`${chain.toUpperCase()}_RPC_URLS`, NODE])),
  ROLES: 'watchers,publisher',
});
test.after.always(() => cloud.stop());

/** Puts counters into an account that no node has loaded yet. */
async function holding({ live }: TestOrganization, counters: object): Promise<void> {
  await cloud.database.owner`
    update account set state = state || ${cloud.database.owner.json(counters as never)} where account_id = ${live.accountId}`;
}
async function ofTwenty(ask: (n: number) => Promise<unknown>): Promise<{ codes: string[]; taken: number }> {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n)));
  const codes = answers.map((answer) => (answer as { code?: string }).code ?? 'taken');
  return { codes: [...new Set(codes)].sort(), taken: codes.filter((code) => code === 'taken').length };
}
const address = (client: Client, n: number, chain: (typeof CHAINS)[number] = 'eth') =>
  client.call('createAddress', { body: { chain, userRef: `customer-${n}` } });
const hook = (client: Client, n: number) =>
  client.call('createWebhook', {
    body: { url: `https://example.com/hooks/${n}`, events: ['deposit_confirmed'] },
  });

test('console B19: of twenty addresses, webhooks and chains at once for the last place one is taken', async (t) => {
  const [small, band, hooks, chains] = await Promise.all([
    cloud.organization({ tier: 'free', band: 'launch' }),
    cloud.organization({ tier: 'premium', band: 'launch' }),
    cloud.organization({ tier: 'free', band: 'launch' }),
    cloud.organization({ tier: 'free', band: 'launch' }),
  ]);
  await holding(small, { activeAddresses: 99 });
  await holding(band, { activeAddresses: 999 });
  for (const { live } of [small, band, chains]) await enrol(cloud, live);
  const one = (code: string) => ({ codes: [code, 'taken'].sort(), taken: 1 });
  t.deepEqual(await ofTwenty((n) => address(small.live.client, n)), one('TIER_FEATURE_LOCKED'));
  t.deepEqual(await ofTwenty((n) => address(band.live.client, n)), one('ADDRESS_LIMIT_EXCEEDED'));
  t.deepEqual(await ofTwenty((n) => hook(hooks.live.client, n)), one('TIER_FEATURE_LOCKED'));
  await address(chains.live.client, 0);
  const further = CHAINS.slice(1);
  const { codes } = await ofTwenty((n) => address(chains.live.client, 100 + n, further[n % further.length]!));
  t.deepEqual(codes, ['TIER_FEATURE_LOCKED', 'taken']);
  const issued = await chains.live.client.must('listAddresses', { query: { size: '100' } });
  t.is(new Set(issued.content.map(({ chain }) => chain)).size, 2);
});
