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
  for (const [url, key] of [[deployment.cloudUrl, deployment.record.sandbox.cloudApiKey], [deployment.edgeUrl, deployment.localApiKey]] as const) {
    const { status, json } = await raw(url, 'POST', path, { headers: jsonOf(key) });
    t.is(status, ERRORS.SIGNED_BATCH_REJECTED[0]);
    t.deepEqual(json.error, { code: 'SIGNED_BATCH_REJECTED', message: ERRORS.SIGNED_BATCH_REJECTED[1], details: { reason: 'no_instruction' } });
  }
  t.is((await atEdge.must('getTransaction', { params: { id: built.id } })).status, 'built', 'nothing was signed');
});

test('issue 2 an amount that no chain can move is INVALID_AMOUNT in the sandbox, and what follows is a payment like any other', async (t) => {
  const { address } = await atEdge.must('createAddress', { body: { chain: 'eth' } });
  for (const amount of ['9'.repeat(40), '9'.repeat(60), '9'.repeat(77)]) {
    for (let n = 0; n < 3; n += 1) {
      t.like(await atEdge.call('simulateDeposit', { body: { chain: 'eth', address, amount, autoConfirm: true } }), { code: 'INVALID_AMOUNT' });
    }
  }
  const coins = await atEdge.must('createAddress', { body: { chain: 'btc' } });
  t.like(await atEdge.call('simulateDeposit', { body: { chain: 'btc', address: coins.address, amount: '21000001', autoConfirm: true } }), { code: 'INVALID_AMOUNT' });
  await atEdge.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1' } });
  t.is((await atEdge.must('getBalance', { params: { chain: 'eth', address } })).amount, '1000000000000000000');
});

test.serial('G25 a cloud node that was started anew takes the signature of what was built before, also in a sandbox nobody else uses', async (t) => {
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
  const landed = await patiently('inclusion', () => atEdge.call('getTransaction', { params }), (row) => !isRefusal(row) && row.status === 'confirming');
  t.is((landed as { txid: string | null }).txid, (sent as { txid: string | null }).txid);
});
