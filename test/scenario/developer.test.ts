/** What an application can do to a whole running sandbox. */
import test from 'ava';
import { ERRORS, isRefusal } from '../../protocol/errors.ts';
import { patiently } from '../support/company.ts';
import { openDeveloper } from '../support/developer.ts';
import { jsonOf, raw } from '../support/gateway.ts';

const flock = await openDeveloper();
const { atEdge, atCloud, deployment } = flock;
test.after.always(() => flock.close());
const TO = '0x52908400098527886E0F7030069857D2E4169EE7';

test('§2.1 what the edge refuses to sign has code, message and details at the cloud too', async (t) => {
  const from = await flock.fund('1');
  // Built past the edge: it holds no instruction of its own caller.
  const built = await atCloud.must('buildTransaction', { body: { chain: 'eth', from, to: TO, amount: '1' } });
  const path = `/v1/transactions/${built.id}/broadcast`;
  for (const [url, key] of [
    [deployment.cloudUrl, deployment.record.sandbox.cloudApiKey],
    [deployment.edgeUrl, deployment.localApiKey],
  ] as const) {
    const { status, json } = await raw(url, 'POST', path, { headers: jsonOf(key) });
    t.is(status, ERRORS.SIGNED_BATCH_REJECTED[0]);
    t.like(json.error, { code: 'SIGNED_BATCH_REJECTED', message: ERRORS.SIGNED_BATCH_REJECTED[1] });
    t.is(json.error.details.reason, 'no_instruction');
  }
  t.is((await atEdge.must('getTransaction', { params: { id: built.id } })).status, 'built', 'nothing was signed');
});

test('issue 2 an amount that no chain can move is INVALID_AMOUNT in the sandbox, and what follows is a payment like any other', async (t) => {
  const { address } = await atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  for (const amount of ['9'.repeat(40), '9'.repeat(60), '9'.repeat(77)]) {
    for (let n = 0; n < 3; n += 1) {
      t.like(await atEdge.call('simulateDeposit', { body: { chain: 'eth', address, amount, autoConfirm: true } }), {
        code: 'INVALID_AMOUNT',
      });
    }
  }
  const coins = await atEdge.must('createAddress', { body: { chain: 'btc', userRef: 'customer-1' } });
  t.like(
    await atEdge.call('simulateDeposit', {
      body: { chain: 'btc', address: coins.address, amount: '21000001', autoConfirm: true },
    }),
    { code: 'INVALID_AMOUNT' },
  );
  await atEdge.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1' } });
  t.is((await atEdge.must('getBalance', { params: { chain: 'eth', address } })).amount, '1000000000000000000');
});

for (const [chain, token, small, enough] of [
  ['xlm', 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN', '1.2', '5'],
  ['xrp', '524C555344000000000000000000000000000000:rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De', '1', '5'],
] as const) {
  test(`§4.2 §4.7 M26 R27 a trust line in the sandbox of ${chain}: its preconditions, its signature, and that it is there afterwards`, async (t) => {
    const { address } = await atEdge.must('createAddress', { body: { chain, userRef: 'customer-1' } });
    const open = () => atEdge.call('createTrustline', { params: { address }, body: { chain, asset: token } });
    const deposit = async (amount: string) => {
      const before = BigInt((await atEdge.must('getBalance', { params: { chain, address } })).amount);
      await atEdge.must('simulateDeposit', { body: { chain, address, amount, autoConfirm: true } });
      await patiently(
        'balance',
        () => atEdge.call('getBalance', { params: { chain, address } }),
        (view) => !isRefusal(view) && BigInt(view.amount) > before,
      );
    };
    t.like(await open(), { code: 'CHAIN_REJECTED' }, 'no account');
    await deposit(small);
    if (chain === 'xlm') t.like(await open(), { code: 'INSUFFICIENT_RESERVE' });
    await deposit(enough);
    const held = () => atEdge.must('getTokenBalance', { params: { chain, address, token } });
    t.like(await held(), { amount: '0', accountExists: false });
    const built = await open();
    if (isRefusal(built)) throw new Error(JSON.stringify(built));
    await atEdge.must('broadcastTransaction', { params: { id: built.id } });
    await patiently(
      'inclusion',
      () => atEdge.call('getTransaction', { params: { id: built.id } }),
      (row) => !isRefusal(row) && row.txid !== null,
    );
    t.like(await patiently('the line', held, (view) => view.accountExists), { amount: '0', accountExists: true });
    t.like(await open(), { code: 'CONFLICT' });
  });
}

test.serial(
  'G25 a cloud node that was started anew takes the signature of what was built before, also in a sandbox nobody else uses',
  async (t) => {
    const from = await flock.fund('1');
    const built = await atEdge.must('buildTransaction', { body: { chain: 'eth', from, to: TO, amount: '1' } });
    deployment.cloud.kill('SIGKILL');
    await deployment.cloud.exited;
    await deployment.restartCloud();
    const params = { id: built.id };
    const refusals = new Set<string>();
    const sent = await patiently('broadcast', async () => {
      const answer = await atEdge.call('broadcastTransaction', { params });
      if (isRefusal(answer)) refusals.add(answer.code);
      return answer;
    });
    t.false(refusals.has('CHAIN_UNAVAILABLE'), 'no chain is out of reach');
    const landed = await patiently(
      'inclusion',
      () => atEdge.call('getTransaction', { params }),
      (row) => !isRefusal(row) && row.status === 'confirming',
    );
    t.is((landed as { txid: string | null }).txid, (sent as { txid: string | null }).txid);
  },
);
