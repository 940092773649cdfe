import { randomBytes, randomUUID } from 'node:crypto';
import test from 'ava';
import { webhookSecretContext } from '../../actors/webhook/sign.ts';
import { signingKeyContext } from '../../gateway/http/auth/issuer.ts';
import { totpContext } from '../../gateway/http/auth/totp.ts';
import { createSealedSecrets, createUnreadableHooks } from '../../persistence/postgres/sealed-secrets.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import { newId } from '../../protocol/node/ids.ts';
import { runOperatorCommand } from '../../gateway/cli/operator/commands.ts';
import { resealAll } from '../../gateway/cli/operator/reseal.ts';
import { createSecretBox, sealedPrefix } from '../../persistence/secret-box.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  webhookRow,
  write,
  type TestOrganization,
} from '../support/store-rows.ts';

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
  const confirmed = under.seal('TOTP', totpContext(ours.userId));
  await stores.identity.enrolTotp(ours.userId, confirmed);
  await stores.identity.confirmTotp(ours.userId, confirmed, { letterId: randomUUID(), nowMs: NOW_MS });
  await stores.identity.enrolTotp(ours.userId, under.seal('NEXT', totpContext(ours.userId)));
  const kid = newId('key', NOW_MS);
  await stores.identity.insertSigningKey({
    kid,
    sealedPrivateJwk: under.seal('{}', signingKeyContext(kid)),
    publicJwk: {},
    createdAtMs: NOW_MS,
  });
  return { webhookId: row.id, userId: ours.userId, kid };
}

async function reseal(keys: readonly Buffer[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const env = { DATABASE_URL: database.url, SECRET_KEY: keys.map((key) => key.toString('hex')).join(',') };
  const code = await runOperatorCommand(
    'secrets reseal',
    [],
    env,
    {
      write: (text) => {
        out += text;
      },
    },
    {
      write: (text) => {
        err += text;
      },
    },
  );
  return { code, out, err };
}

test.serial(
  'design 3: after a reseal the new key alone opens every secret, and a second one finds nothing',
  async (t) => {
    const { webhookId, userId, kid } = await seal();
    t.deepEqual(await reseal([newer, older]), {
      code: 0,
      out: '{"webhooks":1,"totp":1,"signingKeys":1,"released":0,"left":[]}\n',
      err: '',
    });
    const alone = createSecretBox([newer]);
    const webhook = (await stores.read.webhook(ours.sandbox, webhookId))!;
    t.deepEqual(
      webhook.sealedSecrets.map((sealed) => alone.open(sealed, webhookSecretContext(webhookId))),
      ['whsec_new', 'whsec_old'],
    );
    const user = (await stores.identity.userById(userId))!;
    t.is(alone.open(user.sealedTotpSecret!, totpContext(userId)), 'TOTP');
    t.is(alone.open(user.pendingTotpSecret!, totpContext(userId)), 'NEXT');
    const key = (await stores.identity.signingKeys()).find((one) => one.kid === kid)!;
    t.is(alone.open(key.sealedPrivateJwk, signingKeyContext(kid)), '{}');
    t.deepEqual(await reseal([newer]), {
      code: 0,
      out: '{"webhooks":0,"totp":0,"signingKeys":0,"released":0,"left":[]}\n',
      err: '',
    });
  },
);

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
        await write(stores, ours.sandbox, [
          { table: 'webhook', row: { ...known, sealedSecrets: [rotated, known.sealedSecrets[0]!] } },
        ]);
      }
      return columns.webhooks.replace(row, resealed);
    },
  };
  const { resealed, left } = await resealAll({
    columns: { ...columns, webhooks },
    unreadable: createUnreadableHooks(database.sql),
    secrets: both,
    prefix: sealedPrefix(newer),
  });
  t.deepEqual([resealed.webhooks, left], [1, []]);
  const { sealedSecrets } = (await stores.read.webhook(ours.sandbox, webhookId))!;
  t.is(sealedSecrets[0], rotated);
  t.deepEqual(
    sealedSecrets.map((sealed) => createSecretBox([newer]).open(sealed, webhookSecretContext(webhookId))),
    ['whsec_newest', 'whsec_new'],
  );
});

const claim = () => stores.deliveries.claimDue([ours.sandbox], 10, Date.now(), 60_000, []);

async function held() {
  const { webhookId } = await seal();
  await write(stores, ours.sandbox, [{ table: 'publication', row: publicationRow(ours.sandbox) }]);
  const [due] = await claim();
  const { delivery, sealedSecrets } = due!;
  mustBe(await stores.deliveries.holdUnreadable([{ deliveryId: delivery.id, sealedSecrets }]), delivery.id);
  return { webhookId, id: delivery.id, view: () => stores.read.delivery(ours.sandbox, delivery.id) };
}
function mustBe(ids: readonly string[], id: string): void {
  if (ids[0] !== id) throw new Error(`not held: ${JSON.stringify(ids)}`);
}

test.serial(
  'issue 4.9: a delivery whose secret does not open is held with its reason, and nothing of it is lost',
  async (t) => {
    const { id, view } = await held();
    t.like(await view(), { status: 'held', heldReason: 'secret_unreadable', nextAttemptAtMs: null, attempts: [] });
    t.deepEqual(await claim(), [], 'it is not tried for ever');
    t.like((await stores.read.deliveries(ours.sandbox, { status: 'held' }, { page: 0, size: 10 })).content, [{ id }]);
  },
);

test.serial(
  'issue 4.9: `flock secrets reseal` gives it back once a key opens its secret, also without sealing anew',
  async (t) => {
    const { id, view } = await held();
    t.like(JSON.parse((await reseal([newer])).out), { released: 0 }, 'this key does not open it either');
    t.like(await view(), { status: 'held', heldReason: 'secret_unreadable' });
    t.like(JSON.parse((await reseal([older])).out), { released: 1, webhooks: 0, left: [] }, 'the key was put back');
    t.like(await view(), { status: 'pending', heldReason: null });
    t.deepEqual(
      (await claim()).map(({ delivery }) => delivery.id),
      [id],
    );
    t.like(JSON.parse((await reseal([newer, older])).out), { released: 0, webhooks: 1 });
  },
);

test.serial(
  'issue 4.9: a rotated secret gives it back too; what was rotated after the claim is not held at all',
  async (t) => {
    const { id, webhookId, view } = await held();
    const known = (await stores.read.webhook(ours.sandbox, webhookId))!;
    const rotated = { ...known, sealedSecrets: [under.seal('whsec_newest', webhookSecretContext(webhookId))] };
    await write(stores, ours.sandbox, [{ table: 'webhook', row: rotated }]);
    t.like(await view(), { status: 'pending', heldReason: null });
    const [due] = await claim();
    t.is(due!.delivery.id, id);
    t.deepEqual(
      await stores.deliveries.holdUnreadable([{ deliveryId: id, sealedSecrets: known.sealedSecrets }]),
      [],
      'the claimer saw older secrets',
    );
    t.deepEqual(
      (await claim()).map(({ delivery }) => delivery.id),
      [id],
      'given back at once',
    );
  },
);

test.serial(
  'issue 4.9: a disabled endpoint keeps what is held; enabling it gives back what waited for its secret only',
  async (t) => {
    const { webhookId, view } = await held();
    const known = (await stores.read.webhook(ours.sandbox, webhookId))!;
    await write(stores, ours.sandbox, [{ table: 'webhook', row: { ...known, status: 'disabled' } }]);
    await write(stores, ours.sandbox, [{ table: 'publication', row: publicationRow(ours.sandbox) }]);
    t.like(await view(), { status: 'held', heldReason: 'endpoint_disabled' });
    t.like(JSON.parse((await reseal([older])).out), { released: 0 });
    await write(stores, ours.sandbox, [{ table: 'webhook', row: known }]);
    const { content } = await stores.read.deliveries(ours.sandbox, {}, { page: 0, size: 10 });
    t.deepEqual(
      content.map(({ status }) => status).toSorted(),
      ['held', 'pending'],
      'what came while it was disabled is replayed, not sent by surprise',
    );
  },
);
