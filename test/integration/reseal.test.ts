import { randomBytes } from 'node:crypto';
import test from 'ava';
import { webhookSecretContext } from '../../actors/webhook/sign.ts';
import { signingKeyContext } from '../../gateway/http/auth/issuer.ts';
import { totpContext } from '../../gateway/http/auth/totp.ts';
import { createSealedSecrets } from '../../persistence/postgres/sealed-secrets.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import { newId } from '../../protocol/ids.ts';
import { runOperatorCommand } from '../../supervision/operator.ts';
import { resealAll } from '../../supervision/reseal.ts';
import { createSecretBox, sealedPrefix } from '../../supervision/secret-box.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { newOrganization, NOW_MS, openStores, webhookRow, write, type TestOrganization } from '../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization;
test.beforeEach(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  ours = await newOrganization(stores);
});
test.afterEach.always(() => database.close());

const [older, newer] = [randomBytes(32), randomBytes(32)];
const [under, both] = [createSecretBox([older]), createSecretBox([newer, older])];

async function seal(): Promise<{ webhookId: string; userId: string; kid: string }> {
  const row = webhookRow(ours.sandbox);
  const sealedSecrets = ['whsec_new', 'whsec_old'].map((secret) => under.seal(secret, webhookSecretContext(row.id)));
  await write(stores, ours.sandbox, [{ table: 'webhook', row: { ...row, sealedSecrets } }]);
  await stores.identity.setTotp(ours.userId, under.seal('TOTP', totpContext(ours.userId)), true);
  const kid = newId('key', NOW_MS);
  await stores.identity.insertSigningKey({ kid, sealedPrivateJwk: under.seal('{}', signingKeyContext(kid)), publicJwk: {}, createdAtMs: NOW_MS });
  return { webhookId: row.id, userId: ours.userId, kid };
}

async function reseal(keys: readonly Buffer[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const env = { DATABASE_URL: database.url, SECRET_KEY: keys.map((key) => key.toString('hex')).join(',') };
  const code = await runOperatorCommand('secrets reseal', [], env, { write: (text) => { out += text; } }, { write: (text) => { err += text; } });
  return { code, out, err };
}

test.serial('design 3: after a reseal the new key alone opens every secret, and a second one finds nothing', async (t) => {
  const { webhookId, userId, kid } = await seal();
  t.deepEqual(await reseal([newer, older]), { code: 0, out: '{"webhooks":1,"totp":1,"signingKeys":1,"left":[]}\n', err: '' });
  const alone = createSecretBox([newer]);
  const webhook = (await stores.read.webhook(ours.sandbox, webhookId))!;
  t.deepEqual(webhook.sealedSecrets.map((sealed) => alone.open(sealed, webhookSecretContext(webhookId))), ['whsec_new', 'whsec_old']);
  const user = (await stores.identity.userById(userId))!;
  t.is(alone.open(user.sealedTotpSecret!, totpContext(userId)), 'TOTP');
  const key = (await stores.identity.signingKeys()).find((one) => one.kid === kid)!;
  t.is(alone.open(key.sealedPrivateJwk, signingKeyContext(kid)), '{}');
  t.deepEqual(await reseal([newer]), { code: 0, out: '{"webhooks":0,"totp":0,"signingKeys":0,"left":[]}\n', err: '' });
});

test.serial('design 3: what no key opens is named and left as it is', async (t) => {
  const { webhookId } = await seal();
  const { code, out } = await reseal([newer]);
  t.is(code, 1);
  t.like(JSON.parse(out), { webhooks: 0, totp: 0, signingKeys: 0 });
  t.true((JSON.parse(out) as { left: string[] }).left.includes(`webhooks ${webhookId}`));
  t.is((await reseal([])).code, 2, 'without a key nothing is read');
  t.is((await reseal([older])).code, 0, 'and nothing was harmed');
});

test.serial('spec §4.1: a secret that is rotated during a reseal stays rotated', async (t) => {
  const { webhookId } = await seal();
  const columns = createSealedSecrets(database.sql);
  const rotated = both.seal('whsec_newest', webhookSecretContext(webhookId));
  let rotations = 0;
  const webhooks: typeof columns.webhooks = {
    ...columns.webhooks,
    async replace(row, resealed) {
      if ((rotations += 1) === 1) {
        const known = (await stores.read.webhook(ours.sandbox, webhookId))!;
        await write(stores, ours.sandbox, [{ table: 'webhook', row: { ...known, sealedSecrets: [rotated, known.sealedSecrets[0]!] } }]);
      }
      return columns.webhooks.replace(row, resealed);
    },
  };
  const { resealed, left } = await resealAll({ columns: { ...columns, webhooks }, secrets: both, prefix: sealedPrefix(newer) });
  t.deepEqual([resealed.webhooks, left], [1, []]);
  const { sealedSecrets } = (await stores.read.webhook(ours.sandbox, webhookId))!;
  t.is(sealedSecrets[0], rotated);
  t.deepEqual(sealedSecrets.map((sealed) => createSecretBox([newer]).open(sealed, webhookSecretContext(webhookId))), ['whsec_newest', 'whsec_new']);
});
