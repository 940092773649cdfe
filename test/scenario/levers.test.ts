/** Levers around a sandbox, through a real edge: keys used elsewhere, edges away, endpoints that fail. */
import test from 'ava';
import { EVENTS, type Chain } from '../../protocol/slugs.ts';
import { own } from '../support/btc-inputs.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';
import { ours as xlmAt } from '../support/xlm-node.ts';
import { ours as xrpAt } from '../support/xrp-node.ts';

const flock = await openDeveloper();
const endpoint = await flock.atEdge.must('createWebhook', { body: { url: flock.receiver.url, events: [...EVENTS] } });
flock.receiver.setSecret(endpoint.secret);
test.after.always(() => flock.close());

const { calm: client, receiver } = flock;
const webhookId = endpoint.id;

async function funded(chain: Chain, funds: string): Promise<string> {
  const { address } = await client.must('createAddress', { body: { chain, userRef: 'customer-1' } });
  await client.must('simulateDeposit', { body: { chain, address, amount: funds, autoConfirm: true } });
  return address;
}

/** A payment that waits in the pool. */
async function waiting(chain: Chain, from: string, to: string, amount: string): Promise<{ id: string; txid: string }> {
  await client.must('simulateStuck', { body: { chain, stuck: true } });
  const body = { chain, from, to, amount, paymentRef: `replaced-${chain}` };
  const { id } = await client.must('buildTransaction', { body });
  const { txid } = await client.must('broadcastTransaction', { params: { id } });
  return { id, txid: txid! };
}

const REPLACED: readonly { chain: Chain; funds: string; amount: string; to: string; blocks: number }[] = [
  {
    chain: 'eth',
    funds: '2',
    amount: '100000000000000000',
    to: '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0',
    blocks: 64,
  },
  { chain: 'btc', funds: '0.5', amount: '1000000', to: own(900).address, blocks: 16 },
  { chain: 'xlm', funds: '100', amount: '50000000', to: xlmAt(9).address, blocks: 16 },
  // It may land until the last ledger that it names.
  { chain: 'xrp', funds: '100', amount: '5000000', to: xrpAt(0, 9).address, blocks: 900 },
];

for (const { chain, funds, amount, to, blocks } of REPLACED)
  test.serial(
    `ecosystem X76 ${chain}: a key that is used elsewhere takes the place of a withdrawal, which fails`,
    async (t) => {
      const from = await funded(chain, funds);
      const { id, txid } = await waiting(chain, from, to, amount);
      const rival = await client.must('simulateReplaced', { body: { chain, txid } });
      t.not(rival.txid, txid);
      await client.must('simulateStuck', { body: { chain, stuck: false } });
      await client.must('simulateConfirmation', { body: { chain, txid: rival.txid, confirmations: blocks } });
      const failed = await receiver.next(
        (got) => got.event === 'withdrawal_failed' && got.data['transactionId'] === id,
        300_000,
      );
      t.is(failed.data['txid'], txid);
      t.like(await client.must('getTransaction', { params: { id } }), { status: 'failed' });
      t.like(await client.call('simulateReplaced', { body: { chain, txid } }), { code: 'NOT_FOUND' });
    },
  );

test.serial('ecosystem X76 on chains where no transaction excludes another nothing takes a place', async (t) => {
  for (const chain of ['tron', 'sol'] as const) {
    const from = await funded(chain, '100'),
      to = await funded(chain, '1');
    const { txid } = await waiting(chain, from, to, '1000000');
    t.like(await client.call('simulateReplaced', { body: { chain, txid } }), {
      code: 'CONFLICT',
      details: { field: 'chain' },
    });
    t.deepEqual(await client.must('simulateStuck', { body: { chain, stuck: false } }), { stuck: false, mined: [txid] });
  }
});

test.serial(
  'ecosystem X76 while its edges are away nothing is delivered; what waited arrives when the lever ends',
  async (t) => {
    const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'away' } });
    const { until } = await client.must('simulateEdgeOffline', { body: { seconds: 3_600 } });
    t.true(Date.parse(until) > Date.now());
    await patiently(
      'nobody holds the lease',
      () => flock.atCloud.call('getEdgeLease'),
      (lease) => 'state' in lease && lease.expiresAt === null,
    );
    const { txid } = await flock.atCloud.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1' } });
    const stored = await patiently(
      'the delivery is there',
      () => flock.atCloud.must('listDeliveries', { query: { webhookId, event: 'deposit_detected' } }),
      ({ content }) => content.some(({ status }) => status === 'pending'),
    );
    t.true(stored.content.filter(({ status }) => status === 'pending').every(({ attempts }) => attempts.length === 0));
    t.false(receiver.received.some((got) => got.data['txid'] === txid));
    await flock.atCloud.must('simulateEdgeOffline', { body: { seconds: 0 } });
    t.truthy(await receiver.next((got) => got.event === 'deposit_detected' && got.data['txid'] === txid, 300_000));
  },
);

test.serial(
  'ecosystem X76 an endpoint fails so many attempts, then takes the delivery; what is wrong is refused',
  async (t) => {
    const fails = { webhookId, status: 503, attempts: 2 };
    t.deepEqual(await client.must('simulateEndpointFailure', { body: fails }), { webhookId, attempts: 2 });
    const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'fails' } });
    const { txid } = await client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1' } });
    const arrived = await receiver.next(
      (got) => got.event === 'deposit_detected' && got.data['txid'] === txid,
      300_000,
    );
    const delivered = await patiently(
      'its attempts',
      () => client.must('listDeliveries', { query: { webhookId } }),
      ({ content }) => content.some(({ eventId, status }) => eventId === arrived.id && status === 'delivered'),
    );
    t.deepEqual(
      delivered.content.find(({ eventId }) => eventId === arrived.id)!.attempts.map(({ statusCode }) => statusCode),
      [503, 503, 200],
    );
    for (const body of [
      { webhookId, attempts: 1 },
      { webhookId, attempts: 1, status: 500, delaySeconds: 3 },
    ])
      t.like(await client.call('simulateEndpointFailure', { body }), {
        code: 'INVALID_INPUT',
        details: { field: 'status' },
      });
    for (const body of [
      { webhookId, attempts: 1, status: 200 },
      { webhookId, attempts: 101, status: 500 },
      { webhookId, attempts: 1, delaySeconds: 61 },
    ])
      t.like(await client.call('simulateEndpointFailure', { body }), { code: 'INVALID_INPUT' });
    t.like(
      await client.call('simulateEndpointFailure', {
        body: { webhookId: '7f7dbf0a-6f0b-4a12-9f39-3a2c0b6a4d11', attempts: 1, status: 500 },
      }),
      { code: 'NOT_FOUND' },
    );
    t.like(await client.call('simulateEdgeOffline', { body: { seconds: 3_601 } }), {
      code: 'INVALID_INPUT',
      details: { field: 'seconds' },
    });
  },
);
