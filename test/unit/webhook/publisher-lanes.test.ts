/** What waits for its lane goes as its endpoint is when it leaves, or does not go. */
import test from 'ava';
import { until } from '../../support/until.ts';
import { A, answered, setup } from '../../support/publishing.ts';

/** Three events of one address were claimed together; the first is at the edge for a second. */
async function lane() {
  const all = setup();
  all.edges.leads(A);
  const ids = [1, 2, 3].map(() => all.store.add(A, { orderKey: 'one address' }));
  all.publisher.ring(A);
  await until('the first left', () => all.edges.sent.length === 1);
  all.clock.advance(1_000);
  return { ...all, ids };
}

test('§4.1 what waits for its lane goes to the endpoint as it stands then: to its URL of then, signed with its secrets of then', async (t) => {
  const { store, edges, publisher, ids } = await lane();
  store.changed.set('hook', { url: 'https://moved.example/', sealedSecrets: ['two of', 'them'] });
  await publisher.report(A, [answered(edges.sent[0]!)]);
  await until('the second left', () => edges.sent.length === 2);
  t.like(edges.sent[1], { deliveryId: ids[1], url: 'https://moved.example/' });
  t.is(edges.sent[1]!.headers['webhook-signature']!.split(' ').length, 2);
  await publisher.report(A, [answered(edges.sent[1]!)]);
  await until('the third left', () => edges.sent.length === 3);
  t.is(store.looks, 1, 'what was looked at just now is not looked at again');
  await publisher.stop();
});

test('§4.1 deletion stops at once: nothing more leaves to an endpoint that is enabled no more', async (t) => {
  const { store, edges, publisher, ids } = await lane();
  store.changed.set('hook', null);
  for (const id of ids.slice(1)) Object.assign(store.status(id), { status: 'held', nextAttemptAtMs: null });
  await publisher.report(A, [answered(edges.sent[0]!)]);
  const other = store.add(A, { webhookId: 'other' });
  publisher.ring(A);
  await until('another endpoint goes on', () => edges.sent.length === 2);
  t.is(edges.sent[1]!.deliveryId, other);
  await publisher.stop();
});

test('§4.7 what a sandbox reset forgot does not leave any more, and what is new does', async (t) => {
  const { store, edges, publisher, ids } = await lane();
  for (const id of ids) store.forget(id);
  const fresh = store.add(A, { orderKey: 'one address' });
  await publisher.report(A, [answered(edges.sent[0]!)]);
  await until('the new one left', () => edges.sent.length === 2);
  t.is(edges.sent[1]!.deliveryId, fresh);
  await publisher.stop();
});

test('C5-48 an endpoint that answered 410 gets nothing of what waited behind it', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  for (let count = 0; count < 3; count += 1) store.add(A, { orderKey: 'one address' });
  publisher.ring(A);
  await until('the first left', () => edges.sent.length === 1);
  for (const id of store.ids().slice(1)) Object.assign(store.status(id), { status: 'held', nextAttemptAtMs: null });
  await publisher.report(A, [answered(edges.sent[0]!, 410)]);
  const other = store.add(A, { webhookId: 'other' });
  publisher.ring(A);
  await until('another endpoint goes on', () => edges.sent.length === 2);
  t.is(edges.sent[1]!.deliveryId, other);
  await publisher.stop();
});

test('C5-48 an attempt is recorded with the URL that it was posted to, also when its endpoint has another one by now', async (t) => {
  const { store, edges, publisher } = await lane();
  const late = edges.sent[0]!;
  store.changed.set('hook', { url: 'https://moved.example/', sealedSecrets: ['sealed'] });
  store.add(A, { orderKey: 'another address' });
  publisher.ring(A);
  await until('another one left', () => edges.sent.length === 2);
  await publisher.report(A, [answered(late, 410)]);
  t.like(store.recorded[0], { deliveryId: late.deliveryId, postedTo: late.url, next: { disableEndpoint: true } });
  await until('what waits goes on, if the endpoint is enabled', () => edges.sent.length === 3);
  t.is(edges.sent[2]!.url, 'https://moved.example/');
  await publisher.stop();
});

test('what waited is not sent while its endpoint cannot be looked at, and is sent afterwards, in its order', async (t) => {
  const { store, edges, publisher, clock, warnings, ids } = await lane();
  store.failingLooks = 1;
  await publisher.report(A, [answered(edges.sent[0]!)]);
  await until('it was tried', () => warnings.includes('deliveries wait: their endpoints could not be looked at'));
  t.is(edges.sent.length, 1);
  clock.advance(1_500);
  await until('the second left', () => edges.sent.length === 2);
  await publisher.report(A, [answered(edges.sent[1]!)]);
  await until('the third left', () => edges.sent.length === 3);
  t.deepEqual(
    edges.sent.map(({ deliveryId }) => deliveryId),
    ids,
  );
  await publisher.stop();
});
