/** The clock of a sandbox: what falls due happens at its own moment, through a real edge. Ecosystem X75. */
import test from 'ava';
import { EVENTS } from '../../protocol/slugs.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';

const HOUR = 3_600,
  DAY = 86_400;
const flock = await openDeveloper({ cloudEnv: { WEBHOOK_LADDER_SECONDS: '0,1800,7200,86400' } });
const { calm: client, receiver } = flock;
const endpoint = await flock.atEdge.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } });
receiver.setSecret(endpoint.secret);
test.after.always(() => flock.close());

const clock = () => client.must('getSandboxClock');
const advance = (body: { advanceSeconds: number } | { to: string }) => client.must('advanceSandboxClock', { body });
const toldAt = ({ raw }: { raw: string }): string => (JSON.parse(raw) as { timestamp: string }).timestamp;
const isPassed = (from: string, seconds: number, to: string): boolean =>
  Math.abs(Date.parse(to) - Date.parse(from) - seconds * 1_000) < 600_000;

test.serial('ecosystem X75 a clock is there from the start, goes forward only, and so far at once', async (t) => {
  const { now, aheadSeconds } = await clock();
  t.is(aheadSeconds, 0);
  t.true(isPassed(new Date().toISOString(), 0, now));
  t.deepEqual((await advance({ advanceSeconds: 5 })).ran, []);
  t.is((await clock()).aheadSeconds, 5);
  const yesterday = new Date(Date.now() - DAY * 1_000).toISOString(),
    far = new Date(Date.now() + 401 * DAY * 1_000).toISOString();
  for (const [body, field] of [
    [{ to: yesterday }, 'to'],
    [{ to: far }, 'to'],
    [{ advanceSeconds: 401 * DAY }, 'advanceSeconds'],
    [{ advanceSeconds: 0 }, 'advanceSeconds'],
    [{ advanceSeconds: 5, to: far }, 'advanceSeconds'],
    [{}, 'advanceSeconds'],
  ] as const)
    t.like(await client.call('advanceSandboxClock', { body: body as { advanceSeconds: number } }), {
      code: 'INVALID_INPUT',
      details: { field },
    });
  t.is((await clock()).aheadSeconds, 5);
});

test.serial(
  'ecosystem X75 a confirmation, retries, ends of payments and links run in order, each at its moment',
  async (t) => {
    await client.must('simulateEndpointFailure', { body: { webhookId: endpoint.id, attempts: 2, status: 503 } });
    const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'later' } });
    const began = (await clock()).now;
    const { txid } = await client.must('simulateDeposit', {
      body: { chain: 'eth', address, amount: '1', confirmAfterSeconds: 5 * HOUR },
    });
    const closesAt = new Date(Date.parse(began) + 2 * DAY * 1_000).toISOString();
    const link = await client.must('createPaymentLink', {
      body: { mode: 'fixed', chain: 'eth', asset: 'ETH', amount: '2', closesAt },
    });
    const session = await flock.atCloud.must('openCheckoutSession', { params: { slug: link.slug }, body: {} });
    t.is(session.status, 'awaiting_payment');
    // The first attempt failed; nothing of it is tried again by the real time.
    await patiently(
      'the first attempt is recorded',
      () => client.must('listDeliveries', { query: { webhookId: endpoint.id, event: 'deposit_detected' } }),
      ({ content }) => content.some(({ attempts, status }) => status === 'failed' && attempts.length === 1),
    );
    const { now, ran } = await advance({ advanceSeconds: 3 * DAY });
    t.true(isPassed(began, 3 * DAY, now), `${began} ${now}`);
    const happened = ran.map(({ what }) => what);
    t.deepEqual(happened.toSorted(), [
      'confirmation',
      'delivery_retry',
      'delivery_retry',
      'link_end',
      'payment_expiry',
    ]);
    t.deepEqual(
      ran.map(({ at }) => at),
      ran.map(({ at }) => at).toSorted(),
    );
    const atOf = (kind: string) => ran.filter(({ what }) => what === kind).map(({ at }) => at);
    t.true(isPassed(began, 5 * HOUR, atOf('confirmation')[0]!));
    t.true(isPassed(began, 2 * DAY, atOf('link_end')[0]!));
    t.is(ran.find(({ what }) => what === 'confirmation')!.id, txid);
    t.like(await client.must('getPaymentLink', { params: { id: link.id } }), {
      status: 'closed',
      closedReason: 'date',
    });
    t.is((await flock.atCloud.must('getCheckoutSession', { params: { id: session.id! } })).status, 'expired');
    // Signatures go by the real time: the receiver verified each; what is told is the account's.
    const detected = await receiver.next((got) => got.event === 'deposit_detected' && got.data['txid'] === txid);
    t.true(isPassed(began, 0, toldAt(detected)));
    const confirmed = await receiver.next((got) => got.event === 'deposit_confirmed' && got.data['txid'] === txid);
    t.true(isPassed(began, 5 * HOUR, toldAt(confirmed)), toldAt(confirmed));
  },
);

test.serial(
  'ecosystem X75 what is made by a clock that is ahead ends by it, also when only real time goes on',
  async (t) => {
    const before = await clock();
    t.true(before.aheadSeconds > 2 * DAY);
    const closesAt = new Date(Date.parse(before.now) + 3_000).toISOString();
    const link = await client.must('createPaymentLink', {
      body: { mode: 'donation', chain: 'eth', asset: 'ETH', closesAt },
    });
    t.is(link.status, 'active');
    await patiently(
      'it ends',
      () => client.must('getPaymentLink', { params: { id: link.id } }),
      ({ status }) => status === 'closed',
    );
    t.like(
      await client.call('createPaymentLink', {
        body: { mode: 'donation', chain: 'eth', asset: 'ETH', closesAt: before.now },
      }),
      { code: 'INVALID_INPUT' },
    );
  },
);

test.serial('ecosystem X75 nothing is replayed after its days by this clock; a reset ends it', async (t) => {
  const { content } = await client.must('listDeliveries', {
    query: { webhookId: endpoint.id, event: 'deposit_detected' },
  });
  const { id } = content[0]!;
  await client.must('replayDelivery', { params: { id } });
  await advance({ advanceSeconds: 8 * DAY });
  t.like(await client.call('replayDelivery', { params: { id } }), {
    code: 'CONFLICT',
    details: { reason: 'replay_window_closed' },
  });
  await client.must('resetSandbox');
  t.is((await clock()).aheadSeconds, 0);
});
