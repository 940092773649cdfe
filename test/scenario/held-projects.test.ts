/** A project that goes back to observe, from outside: what was announced waits, and leaves in its order. M-O6. */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { signInAsOwner } from '../support/company.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';

// Long enough that no machine is slower, and each attempt comes soon.
const flock = await openDeveloper({ cloudEnv: { WEBHOOK_LADDER_SECONDS: ['0', ...Array(15).fill('2')].join() } });
test.after.always(() => flock.close());
const { calm: client, receiver, deployment } = flock;
const ADOPTED = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';

test('migration M-O1, M-O6: a delivery that waits for its next attempt when its project goes back to observe is held, and leaves once, before what came later, when the project is active again', async (t) => {
  t.timeout(300_000);
  const { secret } = await client.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected', 'deposit_confirmed'] },
  });
  receiver.setSecret(secret);
  const { id: projectId } = await client.must('createMigrationProject', { body: { name: 'old wallet' } });
  const { uploadId, uploadUrl } = await client.must('createUpload', { body: { filename: 'old.csv' } });
  const file = `address,chain,user ref\n${ADOPTED},eth,customer-1\n`;
  t.is((await fetch(uploadUrl, { method: 'PUT', body: file })).status, 200);
  await client.must('completeUpload', { params: { uploadId }, body: {} });
  const { id: batchId } = await client.must('createImport', { params: { projectId }, body: { uploadId } });
  const { dryRunId } = await client.must('validateImport', { params: { batchId } });
  await client.must('commitImport', { params: { batchId }, body: { dryRunId: dryRunId! } });

  const owner = await signInAsOwner(deployment, 'sandbox');
  const cut = (to: 'activateProject' | 'deactivateProject') => owner.must(to, { params: { projectId } });
  await patiently(
    'blocks since the commit',
    () => client.call('getObserve', { params: { projectId } }),
    (view) => !isRefusal(view) && view.caughtUp,
  );
  await cut('activateProject');
  receiver.setAnswer(() => 500);
  await client.must('simulateDeposit', { body: { chain: 'eth', address: ADOPTED, amount: '1', autoConfirm: true } });
  await patiently(
    'an attempt that fails',
    () => client.call('listDeliveries', {}),
    (page) => !isRefusal(page) && page.content.some(({ attempts }) => attempts.length > 0),
  );
  await cut('deactivateProject');
  await patiently(
    'both of the project are held',
    () => client.call('listDeliveries', { query: { status: 'held' } }),
    (page) => !isRefusal(page) && page.content.length === 2,
  );
  receiver.setAnswer(() => 200);
  // Everything that had left by then has arrived: one of another address, which is behind it, has.
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-2' } });
  await client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '2', autoConfirm: true } });
  await receiver.next(({ event, data }) => data['address'] === address && event === 'deposit_confirmed');
  const waiting = await client.must('listDeliveries', { query: { status: 'held' } });
  t.true(waiting.content.every(({ heldReason }) => heldReason === 'project_in_observe'));
  t.false(receiver.received.some(({ data }) => data['address'] === ADOPTED));

  await cut('activateProject');
  const { txid } = await client.must('simulateDeposit', {
    body: { chain: 'eth', address: ADOPTED, amount: '3', autoConfirm: true },
  });
  await receiver.next(({ event, data }) => event === 'deposit_confirmed' && data['txid'] === txid);
  for (const { eventId } of waiting.content) await receiver.next(({ id }) => id === eventId);
  await patiently(
    'nothing waits',
    () => client.call('listDeliveries', { query: { status: 'held' } }),
    (page) => !isRefusal(page) && page.content.length === 0,
  );
  const after = receiver.received.filter(({ data }) => data['address'] === ADOPTED);
  t.is(new Set(after.map(({ id }) => id)).size, after.length, 'each once');
  const untried = waiting.content.filter(({ attempts }) => attempts.length === 0).map(({ eventId }) => eventId);
  const at = (id: string) => after.findIndex((one) => one.id === id);
  for (const eventId of untried)
    t.true(at(eventId) < after.findIndex(({ data }) => data['txid'] === txid), 'before what came later');
});
