/** payments M9: what stops an account stops no money that payers sent. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant, payer } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());
const pay = payer(cloud);
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

for (const how of ['suspended', 'not active'] as const)
  test(`payments M9: a payment that was open is confirmed, told and counted while its account is ${how}`, async (t) => {
    const { sandbox, owner } = await cloud.organization(),
      ask = merchant(cloud, sandbox);
    await enrol(cloud, sandbox);
    await sandbox.client.must('createWebhook', {
      body: { url: 'http://localhost:9/hook', events: ['payment_detected', 'payment_confirmed'] },
    });
    const link = (await ask('POST', '/v1/payments/links', FIXED)).json.data;
    const door = `/v1/checkout/links/${link.slug}/sessions`;
    const { id, address } = (await pay('POST', door, {})).json.data;
    if (how === 'suspended') {
      const admin = createClient({
        baseUrl: cloud.url,
        bearer: await cloud.signIn(await cloud.person({ admin: true })),
      });
      await admin.must('setSuspension', { params: { accountId: sandbox.accountId }, body: { suspended: true } });
    } else {
      const bearer = await cloud.signIn(owner);
      await createClient({ baseUrl: cloud.url, bearer, environment: 'sandbox' }).must('putPaymentSettings', {
        body: { active: false },
      });
    }
    const refused = (await pay('POST', door, {})).json.error?.code;
    t.is(refused, how === 'suspended' ? 'ACCOUNT_SUSPENDED' : 'MERCHANT_NOT_ACTIVE', 'nothing new is opened');
    await sandbox.client.must('simulateDeposit', {
      body: { address, chain: 'eth', amount: '25', tokenContract: USDC, autoConfirm: true } as never,
    });
    await eventually(
      'the payment is confirmed',
      async () => (await pay('GET', `/v1/checkout/sessions/${id}`)).json.data,
      ({ status }) => status === 'confirmed',
    );
    const told = await cloud.database.owner<{ event: string }[]>`
      select body::json ->> 'event' as event from publication where account_id = ${sandbox.accountId} order by seq`;
    t.deepEqual(
      told.map(({ event }) => event).filter((event) => event.startsWith('payment_')),
      ['payment_link_created', 'payment_detected', 'payment_confirmed', 'payment_link_closed'].filter((event) =>
        told.some((one) => one.event === event),
      ),
    );
    t.true(told.some(({ event }) => event === 'payment_confirmed'));
    t.like((await ask('GET', `/v1/payments/links/${link.id}`)).json.data, { amountRaised: '25', paymentCount: 1 });
  });
