/** Found F3, F7: whatever the cloud says of signed bytes, an application that did not say so does not pay twice. */
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';
import {
  askedOf,
  builtOf,
  FAMILY_CHAINS,
  recordOf,
  unsignedFor,
  type FamilyChain,
  type FamilyWish,
} from '../../support/edge/families.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { startReceiver } from '../../support/edge/receivers.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';

interface Stage {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  /** Builds and broadcasts; another `variant` could land beside the first. */
  pay(
    wish: FamilyWish,
    variant: number,
    more?: { paymentRef?: string; id?: string },
  ): Promise<{ id: string; told: BuiltJson; built: EdgeReply; sent: EdgeReply }>;
  /** Relays an event through the edge to a receiver that takes it. */
  tell(event: string, data: object): Promise<void>;
}

async function stage(
  t: ExecutionContext,
  chain: FamilyChain,
  {
    env = {},
    ports = {},
    dataDir = newDirectory(),
    role = 'leader',
  }: {
    role?: HostileCloud['role'];
    env?: Record<string, string>;
    ports?: { wallMs?: () => number; monotonicMs?: () => number };
    dataDir?: string;
  } = {},
): Promise<Stage> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  cloud.role = role;
  const receiver = await startReceiver(t),
    nowMs = () => ports.wallMs?.() ?? Date.now();
  const edge = await startTestEdge(t, cloud.url, {
    dataDir,
    ports,
    env: { EDGE_CHAINS: chain, EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`, ...env },
  });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return {
    cloud,
    edge,
    async pay(wish, variant, { paymentRef, id = newId('txn', nowMs()) } = {}) {
      const told = builtOf(await unsignedFor(wish, variant, nowMs()), id);
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
      const built = await edge.ask('POST', '/v1/transactions/unsigned', {
        ...askedOf(wish),
        ...(paymentRef === undefined ? {} : { paymentRef }),
      });
      return { id, told, built, sent: await edge.ask('POST', `/v1/transactions/${id}/broadcast`) };
    },
    async tell(event, data) {
      const before = receiver.hits.length;
      await cloud.deliver([
        {
          deliveryId: newId('dlv', nowMs()),
          attempt: 1,
          url: receiver.url,
          headers: {},
          body: JSON.stringify({ event, data }),
          timeoutMs: 5_000,
        },
      ]);
      await eventually(
        'it is delivered and reported',
        () => receiver.hits.length > before && cloud.attempts.length > before,
      );
    },
  };
}

/** How a cloud that holds the signed bytes makes an application believe that they will not land. */
const LIES: readonly (readonly [
  name: string,
  lie: (cast: Stage, told: BuiltJson, txid: string) => Promise<unknown>,
])[] = [
  ['nothing at all', async () => undefined],
  [
    'withdrawal_failed',
    ({ tell }, { id }, txid) =>
      tell('withdrawal_failed', {
        transactionId: id,
        txid,
        height: null,
        failure: { code: 'CHAIN_REJECTED', reason: 'x' },
      }),
  ],
  [
    'withdrawal_failed in a block',
    ({ tell }, { id }, txid) =>
      tell('withdrawal_failed', {
        transactionId: id,
        txid,
        height: 9,
        failure: { code: 'CHAIN_REJECTED', reason: 'x' },
      }),
  ],
  ['deposit_reversed of its txid', ({ tell }, _id, txid) => tell('deposit_reversed', { depositId: 'dep_1', txid })],
  [
    'a status',
    ({ cloud, edge }, told, txid) => {
      cloud.on(`GET /v1/transactions/${told.id}`, () => ({ data: recordOf(told, 'expired', txid) }));
      return edge.ask('GET', `/v1/transactions/${told.id}`);
    },
  ],
];

for (const chain of FAMILY_CHAINS) {
  test.serial(
    `found F3: a refusal after signing says so with the txid, and an equal payment waits, unless it is named as another one: ${chain}`,
    async (t) => {
      const { cloud, pay } = await stage(t, chain);
      cloud.on('POST /v1/edge/transactions/{id}/signed', ({ body }) => {
        cloud.submitted.push({
          id: '',
          leaseEpoch: 0,
          ...(JSON.parse(body) as { signedPayload: string; txid: string }),
        });
        return { code: 'CHAIN_REJECTED', details: { reason: 'no' } };
      });
      const first = await pay({ chain }, 0);
      t.is(first.sent.error?.code, 'CHAIN_REJECTED', first.sent.text);
      t.like(first.sent.error?.details, { signed: true, txid: cloud.submitted[0]!.txid });
      const again = await pay({ chain }, 1);
      t.is(again.sent.error?.code, 'CONFLICT', again.sent.text);
      t.like(again.sent.error?.details, {
        reason: 'equal_payment_signed',
        earlier: [first.id],
        txids: [cloud.submitted[0]!.txid],
        field: 'paymentRef',
      });
      t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
      if (chain === 'eth' || chain === 'xrp' || chain === 'xlm') {
        const above = await pay({ chain }, 1, { paymentRef: 'payout 2' });
        t.like(
          above.sent.error?.details,
          { reason: 'counter_not_filled', earlier: [first.id] },
          'a counter whose transaction is called failed is used again first',
        );
        cloud.on(`GET /v1/transactions/${first.id}`, () => ({
          data: recordOf(first.told, 'failed', cloud.submitted[0]!.txid),
        }));
        t.is(
          (await pay({ chain }, 0)).sent.error?.code,
          'CHAIN_REJECTED',
          'signed under the same counter: at most one lands',
        );
      } else {
        t.is(
          (await pay({ chain }, 2, { paymentRef: 'payout 2' })).sent.error?.code,
          'CHAIN_REJECTED',
          'its application means to pay twice',
        );
        t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 2);
      }
    },
  );
}

for (const [name, lie] of LIES) {
  for (const chain of ['eth', 'sol'] as const) {
    test.serial(
      `found F3: told ${name}, an application does not pay twice; a later "confirmed" does not free it: ${chain}`,
      async (t) => {
        const cast = await stage(t, chain),
          { cloud, edge, pay, tell } = cast;
        const first = await pay({ chain }, 0);
        t.is(first.sent.status, 200, first.sent.text);
        const { txid } = cloud.submitted[0]!;
        await lie(cast, first.told, txid);
        // What it tells the edge alone frees nothing either.
        if (name !== 'a status')
          cloud.on(`GET /v1/transactions/${first.id}`, () => ({
            data: recordOf(first.told, 'confirmed', cloud.submitted[0]!.txid),
          }));
        t.is((await pay({ chain }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
        if (name === 'nothing at all') return;
        await tell('withdrawal_confirmed', { transactionId: first.id, txid, failure: null });
        await edge.ask('GET', `/v1/transactions/${first.id}`);
        t.is((await pay({ chain }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
        t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
      },
    );
  }
}

for (const chain of ['sol', 'tron'] as const) {
  test.serial(
    `found F13: a signed payment that only expires is not repriced, and the cloud is not asked to: ${chain}`,
    async (t) => {
      const { cloud, edge, pay } = await stage(t, chain),
        first = await pay({ chain }, 0);
      t.is(first.sent.status, 200, first.sent.text);
      cloud.on('PATCH /v1/transactions/unsigned/{id}', async () => ({
        data: builtOf(await unsignedFor({ chain }, 1), first.id),
      }));
      const repriced = await edge.ask('PATCH', `/v1/transactions/unsigned/${first.id}`);
      t.is(repriced.status, 409, repriced.text);
      t.like(repriced.error, {
        code: 'CONFLICT',
        details: { reason: 'signed_payload_only_expires', signed: true, txids: [cloud.submitted[0]!.txid] },
      });
      t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
    },
  );
}

for (const role of ['leader', 'follower'] as const) {
  test.serial(
    `found F43: a bound payload that is none is refused with an alarm, and handed to no other replica: ${role}`,
    async (t) => {
      const { cloud, edge, pay } = await stage(t, 'xlm', { role });
      cloud.on('POST /v1/edge/transactions/{id}/counter', async ({ path }) => {
        const told = builtOf(await unsignedFor({ chain: 'xlm' }, 1), path.split('/')[4]!);
        return { data: { ...told, unsigned: { ...told.unsigned, payload: 'AAAA' } } };
      });
      const { sent, id } = await pay({ chain: 'xlm' }, 0);
      t.like(sent.error, { code: 'SIGNED_BATCH_REJECTED', details: { reason: 'not_canonical' } }, sent.text);
      t.true(edge.logged.some(({ msg, alarm }) => msg === 'payload_refused' && alarm === true));
      t.false(
        cloud.instructions.some(({ transactionId, unsigned }) => transactionId === id && unsigned.includes('"AAAA"')),
      );
      t.deepEqual(cloud.submitted, []);
    },
  );
}

/** Ways to say "confirmed" of which an edge cannot know that its application heard it. */
const UNHEARD: readonly (readonly [
  name: string,
  say: (cast: Stage, told: BuiltJson, txid: string) => Promise<unknown>,
])[] = [
  [
    'by a webhook, to whatever host answers it',
    ({ tell }, { id }, txid) => tell('withdrawal_confirmed', { transactionId: id, txid, failure: null }),
  ],
  [
    'inside of a refusal',
    ({ cloud, edge }, told, txid) => {
      cloud.on(`GET /v1/transactions/${told.id}`, () => ({
        code: 'SERVICE_UNAVAILABLE',
        details: { note: recordOf(told, 'confirmed', txid) },
      }));
      return edge.ask('GET', `/v1/transactions/${told.id}`);
    },
  ],
  [
    'in a list',
    async ({ cloud, edge }, told, txid) => {
      cloud.on('GET /v1/transactions', () => ({
        data: {
          content: [recordOf(told, 'confirmed', txid)],
          page: 0,
          size: 20,
          totalElements: 1,
          totalPages: 1,
          next: null,
        },
      }));
      return edge.ask('GET', '/v1/transactions');
    },
  ],
  [
    'to a caller that is gone',
    async ({ cloud, edge }, told, txid) => {
      const cut = new AbortController();
      cloud.on(`GET /v1/transactions/${told.id}`, async () => {
        cut.abort();
        await edge.ask('GET', '/v1/edge/outbox'); // by now the edge has read that the other connection is closed
        return { data: recordOf(told, 'confirmed', txid) };
      });
      await fetch(`${edge.url}/v1/transactions/${told.id}`, {
        headers: { 'x-api-key': edge.localKey },
        signal: cut.signal,
      }).catch(() => undefined);
      for (let turn = 0; turn < 3; turn += 1) await edge.ask('GET', '/v1/edge/outbox');
    },
  ],
];

for (const [name, say] of UNHEARD) {
  test.serial(`found: "confirmed" ${name}, frees no equal payment`, async (t) => {
    const cast = await stage(t, 'eth'),
      { cloud, pay } = cast;
    const first = await pay({ chain: 'eth' }, 0);
    await say(cast, first.told, cloud.submitted[0]!.txid);
    t.is((await pay({ chain: 'eth' }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
  });
}

/** Denials that an application hears although no event and no status of a GET says them. */
const DENIALS: readonly (readonly [
  name: string,
  deny: (cast: Stage, told: BuiltJson, txid: string) => Promise<unknown>,
])[] = [
  [
    'a status in the answer to its broadcast',
    async ({ cloud, edge }, told, txid) => {
      cloud.on('POST /v1/edge/transactions/{id}/signed', () => ({ data: recordOf(told, 'failed', txid), status: 201 }));
      return edge.ask('POST', `/v1/transactions/${told.id}/broadcast`);
    },
  ],
  [
    'that there is no such transaction',
    ({ cloud, edge }, { id }) => {
      cloud.on(`GET /v1/transactions/${id}`, () => ({ code: 'NOT_FOUND' }));
      return edge.ask('GET', `/v1/transactions/${id}`);
    },
  ],
  [
    'that there is none to be repriced',
    ({ cloud, edge }, { id }) => {
      cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({ code: 'NOT_FOUND' }));
      return edge.ask('PATCH', `/v1/transactions/unsigned/${id}`);
    },
  ],
  [
    'a status in the refusal of a repricing, without its id',
    ({ cloud, edge }, { id }) => {
      cloud.on('PATCH /v1/transactions/unsigned/{id}', () => ({
        code: 'CONFLICT',
        details: { reason: 'closed', status: 'failed' },
      }));
      return edge.ask('PATCH', `/v1/transactions/unsigned/${id}`);
    },
  ],
  [
    'in place of its record that the chain rejected it',
    ({ cloud, edge }, { id }) => {
      cloud.on(`GET /v1/transactions/${id}`, () => ({
        code: 'CHAIN_REJECTED',
        details: { reason: 'execution reverted' },
      }));
      return edge.ask('GET', `/v1/transactions/${id}`);
    },
  ],
  ['an event with its txid only', ({ tell }, _told, txid) => tell('withdrawal_failed', { txid, height: null })],
];

for (const [name, deny] of DENIALS) {
  test.serial(
    `found: an application that was told ${name} does not pay twice, whatever it heard before or hears later`,
    async (t) => {
      const cast = await stage(t, 'eth'),
        { cloud, edge, pay } = cast;
      const first = await pay({ chain: 'eth' }, 0),
        { txid } = cloud.submitted[0]!;
      await deny(cast, first.told, txid);
      cloud.on(`GET /v1/transactions/${first.id}`, () => ({ data: recordOf(first.told, 'confirmed', txid) }));
      await edge.ask('GET', `/v1/transactions/${first.id}`);
      t.is((await pay({ chain: 'eth' }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
    },
  );
}

test.serial(
  'found: an event that could be read in two ways is relayed to nobody, without an own node too; an alarm rings',
  async (t) => {
    const receiver = await startReceiver(t),
      { cloud, edge } = await stage(t, 'eth', { env: { EDGE_WEBHOOK_ALLOWLIST: '127.0.0.1' } });
    const plain = JSON.stringify({ event: 'withdrawal_failed', data: {} });
    for (const [index, body] of [
      `\ufeff${plain}`,
      plain.replace(/}$/, ',"event":"withdrawal_broadcast"}'),
      plain,
    ].entries()) {
      await cloud.deliver([
        { deliveryId: newId('dlv', index), attempt: 1, url: receiver.url, headers: {}, body, timeoutMs: 5_000 },
      ]);
    }
    await eventually('all are reported', () => cloud.attempts.length === 3);
    t.deepEqual(cloud.attempts.map(({ outcome }) => outcome).sort(), ['answered', 'unverified', 'unverified']);
    t.deepEqual(
      receiver.hits.map(({ body }) => body),
      [plain],
    );
    t.is(edge.logged.filter(({ msg, alarm }) => msg === 'event_not_plain' && alarm === true).length, 2);
  },
);

test.serial(
  'found F3: an application that asked, was told "confirmed" and never the contrary, pays the same again without a word',
  async (t) => {
    const { cloud, edge, pay } = await stage(t, 'eth');
    const first = await pay({ chain: 'eth' }, 0);
    cloud.on(`GET /v1/transactions/${first.id}`, () => ({
      data: recordOf(first.told, 'confirmed', cloud.submitted[0]!.txid),
    }));
    t.is((await edge.ask('GET', `/v1/transactions/${first.id}`)).status, 200);
    t.is((await pay({ chain: 'eth' }, 1)).sent.status, 200);
    t.is(cloud.submitted.length, 2);
  },
);

/**
 * TRON made no block for 2 h 15 min (2 November 2020), Stellar closed no ledger for 67 minutes (15 May 2019); what was
 * signed before may land after.
 */
const HALT_MS = 3 * 3_600_000,
  DAY_MS = 86_400_000;

for (const chain of ['tron', 'xlm', 'sol'] as const) {
  test.serial(
    `attack: a chain that stood still takes a payload after its time, so an equal payment waits for a day more; a clock that is set ahead alone frees nothing (found F3): ${chain}`,
    async (t) => {
      const clocks = { wallMs: Date.now(), monotonicMs: 0 };
      const { cloud, pay } = await stage(t, chain, {
        ports: { wallMs: () => clocks.wallMs, monotonicMs: () => clocks.monotonicMs + performance.now() },
      });
      t.is((await pay({ chain }, 0)).sent.status, 200);
      clocks.wallMs += HALT_MS;
      clocks.monotonicMs += HALT_MS;
      const halted = await pay({ chain }, 1);
      t.is(halted.sent.error?.details['reason'], 'equal_payment_signed', `${halted.built.text}\n${halted.sent.text}`);
      clocks.wallMs += 2 * DAY_MS;
      t.is((await pay({ chain }, 2)).sent.error?.details['reason'], 'equal_payment_signed');
      t.is(new Set(cloud.submitted.map(({ txid }) => txid)).size, 1);
      clocks.monotonicMs += 2 * DAY_MS;
      const later = await pay({ chain }, 3);
      t.is(later.sent.error?.details['reason'], undefined, later.sent.text);
    },
  );
}

test.serial(
  'found F3: the record that another replica was told to sign stands in the way of an equal payment',
  async (t) => {
    const [one, other] = await Promise.all([stage(t, 'eth'), stage(t, 'eth')]);
    t.is((await one.pay({ chain: 'eth' }, 0)).sent.status, 200);
    await eventually('it is shared', () => one.cloud.instructions.some(({ broadcastAtMs }) => broadcastAtMs !== null));
    other.cloud.push('instructions', {
      records: [one.cloud.instructions.findLast(({ broadcastAtMs }) => broadcastAtMs !== null)!],
    });
    t.false((await other.cloud.sign(newId('txn', 1))).ok, 'frames come in order: the record was taken');
    t.is((await other.pay({ chain: 'eth' }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
    t.deepEqual(other.cloud.submitted, []);
  },
);

test.serial('found F3: an edge that starts anew knows what it signed and what was told', async (t) => {
  const dataDir = newDirectory(),
    first = await stage(t, 'btc', { dataDir });
  const { id } = await first.pay({ chain: 'btc' }, 0);
  await first.tell('withdrawal_failed', { transactionId: id, height: null });
  await first.edge.edge.stop();
  const second = await stage(t, 'btc', { dataDir });
  await second.tell('withdrawal_confirmed', { transactionId: id, failure: null });
  t.is((await second.pay({ chain: 'btc' }, 1)).sent.error?.details['reason'], 'equal_payment_signed');
});

for (const place of ['PostgreSQL', 'a shared directory'] as const) {
  test.serial(
    `found F7: one id for three builds at three replicas does not stretch a shared cap: ${place}`,
    async (t) => {
      const fee = (await unsignedFor({ chain: 'eth' })).feeMax,
        amount = 10n ** 18n;
      const env = {
        EDGE_SPEND_LEDGER: place === 'PostgreSQL' ? await newSpendDatabase(t) : newDirectory(),
        EDGE_WITHDRAWAL_CAP_ETH: ((amount * 11n) / 10n + fee).toString(),
      };
      const replicas = await Promise.all([0, 1, 2].map(() => stage(t, 'eth', { env })));
      const id = newId('txn', Date.now());
      const sent: EdgeReply[] = [];
      for (const [index, replica] of replicas.entries())
        sent.push((await replica.pay({ chain: 'eth', amount: amount - BigInt(index) }, 0, { id })).sent);
      t.deepEqual(
        sent.map(({ status }) => status),
        [200, 400, 400],
        sent.map(({ text }) => text).join('\n'),
      );
      t.like(sent[1]!.error?.details, { reason: 'another_instruction_under_this_id' });
      t.is(replicas.flatMap(({ cloud }) => cloud.submitted).length, 1);
      t.is(
        (await replicas[1]!.pay({ chain: 'eth', amount: amount - 1n }, 1)).sent.error?.code,
        'AMOUNT_CAP_EXCEEDED',
        'another id is another spend',
      );
    },
  );

  test.serial(
    `found F3: an equal payment waits over all replicas of one ledger, in turn and at once: ${place}`,
    async (t) => {
      const env = { EDGE_SPEND_LEDGER: place === 'PostgreSQL' ? await newSpendDatabase(t) : newDirectory() };
      const replicas = await Promise.all([0, 1].map(() => stage(t, 'tron', { env })));
      const sent = await Promise.all(replicas.map(({ pay }, index) => pay({ chain: 'tron' }, index)));
      t.deepEqual(sent.map(({ sent: { status } }) => status).sort(), [200, 409]);
      const paid = sent.findIndex(({ sent: { status } }) => status === 200),
        other = replicas[1 - paid]!;
      other.cloud.on(`GET /v1/transactions/${sent[paid]!.id}`, () => ({
        data: recordOf(sent[paid]!.told, 'confirmed', replicas[paid]!.cloud.submitted[0]!.txid),
      }));
      t.is((await other.edge.ask('GET', `/v1/transactions/${sent[paid]!.id}`)).status, 200);
      await eventually(
        'told at one replica, known at the other',
        async () => (await replicas[paid]!.pay({ chain: 'tron' }, 2)).sent.status === 200,
      );
      t.is(replicas.flatMap(({ cloud }) => cloud.submitted).length, 2);
    },
  );
}

for (const chain of ['eth', 'sol'] as const) {
  test.serial(
    `found: a broadcast that was refused is signed for no frame later, also by an edge that starts anew; for its caller it is: ${chain}`,
    async (t) => {
      const dataDir = newDirectory(),
        first = await stage(t, chain, { dataDir }),
        paid = await first.pay({ chain }, 0),
        retry = await first.pay({ chain }, 1);
      t.is(retry.sent.error?.details['reason'], 'equal_payment_signed', retry.sent.text);
      const hear = async ({ cloud, edge }: Stage) => {
        cloud.on(`GET /v1/transactions/${paid.id}`, () => ({
          data: recordOf(paid.told, 'confirmed', first.cloud.submitted[0]!.txid),
        }));
        t.is((await edge.ask('GET', `/v1/transactions/${paid.id}`)).status, 200);
      };
      await hear(first);
      t.like(await first.cloud.sign(retry.id), { ok: false, details: { reason: 'not_broadcast' } });
      await first.edge.edge.stop();
      const second = await stage(t, chain, { dataDir });
      t.like(await second.cloud.sign(retry.id), { ok: false, details: { reason: 'not_broadcast' } });
      t.deepEqual(second.cloud.submitted, []);
      t.is(
        (await second.edge.ask('POST', `/v1/transactions/${retry.id}/broadcast`)).status,
        200,
        'its own caller asks again',
      );
    },
  );
}

test.serial(
  'found: what a cap refused is signed for no frame when the window has passed; a frame that was refused needs its caller again',
  async (t) => {
    const clocks = { wallMs: Date.now(), monotonicMs: 0 },
      env = { EDGE_WITHDRAWAL_CAP_ETH: (2n * 10n ** 16n).toString(), EDGE_SPEND_WINDOW: '600' };
    const { cloud, pay } = await stage(t, 'eth', {
      env,
      ports: { wallMs: () => clocks.wallMs, monotonicMs: () => clocks.monotonicMs + performance.now() },
    });
    const follower = await stage(t, 'eth', { ports: { wallMs: () => clocks.wallMs } });
    t.is((await pay({ chain: 'eth', amount: 15n * 10n ** 15n }, 0)).sent.status, 200);
    const over = await pay({ chain: 'eth', amount: 14n * 10n ** 15n }, 1);
    t.is(over.sent.error?.code, 'AMOUNT_CAP_EXCEEDED');
    t.is((await follower.pay({ chain: 'eth', amount: 13n * 10n ** 15n }, 1)).sent.status, 200);
    await eventually('it is shared', () =>
      follower.cloud.instructions.some(({ broadcastAtMs }) => broadcastAtMs !== null),
    );
    const record = follower.cloud.instructions.findLast(({ broadcastAtMs }) => broadcastAtMs !== null)!;
    t.like(await cloud.sign(record.transactionId, cloud.leaseEpoch, record), {
      ok: false,
      code: 'AMOUNT_CAP_EXCEEDED',
    });
    ((clocks.wallMs += 700_000), (clocks.monotonicMs += 700_000));
    await eventually(
      'the lease is renewed',
      async () => (await cloud.sign(over.id)).details?.['reason'] === 'not_broadcast',
    );
    t.like(await cloud.sign(record.transactionId, cloud.leaseEpoch, record), {
      ok: false,
      details: { reason: 'not_broadcast' },
    });
    t.is(cloud.submitted.length, 1);
  },
);

for (const chain of FAMILY_CHAINS.filter((each) => each === 'btc' || each === 'sol' || each === 'tron')) {
  test.serial(
    `found F76: a build that the cloud has given up is not signed; its refusal says so, and to build it again: ${chain}`,
    async (t) => {
      const { cloud, edge, pay } = await stage(t, chain);
      const id = newId('txn', Date.now());
      const told = builtOf(await unsignedFor({ chain }, 0, Date.now()), id);
      cloud.on(`GET /v1/transactions/${id}`, () => ({ data: { ...recordOf(told, 'expired', null), versions: [] } }));
      const { sent } = await pay({ chain }, 0, { id });
      t.like(
        sent.error,
        { code: 'CONFLICT', details: { reason: 'closed', status: 'expired', signed: false } },
        sent.text,
      );
      t.regex(String(sent.error?.details['next']), /build it again/);
      t.deepEqual([sent.error?.details['txid'], cloud.submitted.length], [undefined, 0]);
      t.is((await edge.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'], 0);
    },
  );
}
