/** Twenty requests at once for the last place of a limit: one has it. Console B19. */
import test from 'ava';
import { getAddress } from 'ethers';
import { createClient, type Client } from '../../protocol/client.ts';
import { newId } from '../../protocol/node/ids.ts';
import { enrol, startTestCloud, ULTIMATE, type TestOrganization } from '../support/gateway.ts';

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
const addressOf = (n: number): string => getAddress(`0x${(n + 1).toString(16).padStart(40, '7')}`);
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

test('console A26: a person creates ten organizations, however many are asked for at once; an operator makes more', async (t) => {
  const person = await cloud.person();
  const asPerson = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(person) });
  const create = (n: number) => asPerson.call('createOrganization', { body: { name: `Company ${n}` } });
  const { codes, taken } = await ofTwenty(create);
  t.deepEqual([codes, taken], [['CONFLICT', 'taken'], 10]);
  t.like(await create(21), { code: 'CONFLICT', details: { reason: 'limit', limit: 10 } });
  t.is((await asPerson.must('listOrganizations')).content.length, 10);
  const another = await cloud.person();
  const asAnother = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(another) });
  t.like(await asAnother.must('createOrganization', { body: { name: 'Theirs' } }), { role: 'owner' });
  t.true(
    await cloud.identity.createOrganization(
      { id: newId('org', Date.now()), name: 'By an operator', createdAtMs: Date.now() },
      person.id,
      ULTIMATE,
    ),
  );
});

test('console B19: of twenty projects, uploads and tokens of a sandbox at once for the last place one is taken', async (t) => {
  const { owner } = cloud.database;
  const { sandbox } = await cloud.organization();
  const { accountId, client } = sandbox;
  await owner`
    insert into migration_project (account_id, id, name, created_at)
      select ${accountId}, 'mig_' || i, 'old', now() from generate_series(1, 199) i`;
  t.deepEqual(await ofTwenty((n) => client.call('createMigrationProject', { body: { name: `Project ${n}` } })), {
    codes: ['CONFLICT', 'taken'],
    taken: 1,
  });
  const upload = () => client.call('createUpload', { body: { filename: 'addresses.csv' } });
  for (let open = 0; open < 3; open += 1) await upload();
  t.deepEqual(await ofTwenty(upload), { codes: ['CONFLICT', 'taken'], taken: 1 });
  await owner`
    insert into sandbox_token (account_id, chain, contract, symbol, decimals)
      select ${accountId}, 'eth', 'contract ' || i, 'TOK', 6 from generate_series(1, 99) i`;
  const token = (n: number) =>
    client.call('simulateToken', {
      body: { chain: 'eth', contractAddress: addressOf(n), symbol: 'TOK', decimals: 6 },
    });
  t.deepEqual(await ofTwenty(token), { codes: ['CONFLICT', 'taken'], taken: 1 });
});
