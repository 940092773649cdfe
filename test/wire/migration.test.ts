import test from 'ava';
import type { SentOf } from '../../protocol/routes.ts';
import { CHAINS } from '../../protocol/slugs.ts';
import { jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const CASE: SentOf<'detectCase', 'body'> = {
  mnemonics: 1,
  hasRawKeys: false,
  providerHoldsKeys: false,
  addressCount: 1_001,
  chains: ['btc', 'eth', 'sol'],
};
const post = (path: string, { apiKey }: Pick<TestAccountKey, 'apiKey'>, body: object, more = {}) =>
  raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey, more), body: JSON.stringify(body) });
const askCase = (key: TestAccountKey, more: object = {}, headers = {}) =>
  post('/v1/migration/detect-case', key, { ...CASE, ...more }, headers);

/** Every row of every table but those in which nodes beat, by its digest. */
async function databaseDigest(): Promise<string[]> {
  const { owner } = cloud.database;
  const tables = await owner<{ name: string }[]>`
    select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind = 'r' and relname !~ '^(cloud_node|cluster|background_job)' order by relname`;
  return Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await owner<{ digest: string | null }[]>`
        select md5(string_agg(one::text, chr(10) order by one::text)) as digest from ${owner(name)} as one`;
      return `${name} ${row!.digest}`;
    }),
  );
}

test.serial(
  'migration M-C1: A1 a case is assessed before an edge exists, for a viewer too, and nothing in the database differs',
  async (t) => {
    const mine = await cloud.organization();
    const viewer = await cloud.person();
    await cloud.join(viewer, mine, 'viewer');
    const token = await cloud.signIn(viewer, { organizationId: mine.id });
    t.is((await askCase(mine.live)).status, 200);
    const before = await databaseDigest();
    const { status, json } = await askCase(mine.live, { standardWallet: null }, { 'idempotency-key': 'once' });
    t.is(status, 200, json.error?.message);
    t.like(json.data, {
      case: 'B',
      assumed: ['standardWallet'],
      capacity: {
        band: 'launch',
        limit: 1_000,
        current: 0,
        adopting: 1_001,
        exceeds: true,
        requiredBand: 'growth',
        monthlyFee: { current: '99.00', required: '499.00' },
      },
    });
    t.is((await askCase(mine.live, { mnemonics: 0 }, { 'idempotency-key': 'once' })).json.error?.code, 'INVALID_INPUT');
    const seen = await raw(cloud.url, 'POST', '/v1/migration/detect-case', {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CASE, standardWallet: true }),
    });
    t.like(seen.json.data, { case: 'A', assumed: [] });
    t.deepEqual(await databaseDigest(), before);
    t.like((await askCase(mine.sandbox)).json.data, { capacity: { band: null, limit: null, exceeds: false } });
  },
);

test.serial('migration M-C1, M-C3: what no case is made of, each with its field', async (t) => {
  const { sandbox } = await cloud.organization();
  const refusal = async (more: object) => {
    const { status, json } = await askCase(sandbox, more);
    return [status, json.error?.code, json.error?.details['field']];
  };
  t.deepEqual(await refusal({ mnemonics: 0 }), [400, 'INVALID_INPUT', 'mnemonics']);
  t.deepEqual(await refusal({ mnemonics: '1' }), [400, 'INVALID_INPUT', 'mnemonics']);
  t.deepEqual(await refusal({ addressCount: 100_000_001 }), [400, 'INVALID_INPUT', 'addressCount']);
  t.deepEqual(await refusal({ chains: ['eth', 'eth'] }), [400, 'INVALID_INPUT', 'chains']);
  t.deepEqual(await refusal({ chains: [] }), [400, 'INVALID_INPUT', 'chains']);
  t.deepEqual(await refusal({ chains: ['doge'] }), [400, 'INVALID_CHAIN', 'chains.0']);
  t.deepEqual(await refusal({ standardWallet: 'yes' }), [400, 'INVALID_INPUT', 'standardWallet']);
  t.deepEqual(await refusal({ notes: 'x' }), [400, 'INVALID_INPUT', 'notes']);
  t.is((await askCase(sandbox, { chains: CHAINS })).status, 200);
});
