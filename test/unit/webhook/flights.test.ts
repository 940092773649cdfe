import test from 'ava';
import { Flights } from '../../../actors/webhook/flights.ts';
import type { DueDelivery } from '../../../model/ports/delivery-store.ts';
import { DELIVERY_CHARACTERS_PER_FRAME } from '../../../protocol/frames.ts';
import type { AccountId } from '../../../protocol/ids.ts';

const ACCOUNT = 'org_a_live' as AccountId;

function due(id: string, orderKey = 'addr', attempts = 0): DueDelivery {
  return {
    delivery: {
      id,
      eventId: `evt_${id}`,
      webhookId: 'hook',
      replay: 0,
      status: attempts === 0 ? 'pending' : 'failed',
      attempts,
      nextAttemptAtMs: 0,
    },
    accountId: ACCOUNT,
    url: 'https://hook.example/',
    sealedSecrets: [],
    body: '{}',
    orderKey,
    claimedUntil: '1',
  };
}

function ready(flights: Flights): string[] {
  return flights.takeReady(ACCOUNT, 100).map(({ due: { delivery } }) => delivery.id);
}

test('§6 a first attempt that was never reported takes along what waits behind it: nothing overtakes it', (t) => {
  const flights = new Flights();
  flights.add(due('1'), 1_000, 0);
  flights.add(due('2'), 5_000, 0);
  flights.add(due('3', 'other'), 5_000, 0);
  t.deepEqual(ready(flights), ['1', '3']);
  t.deepEqual(
    flights.removeExpired(1_000).map(({ deliveryId }) => deliveryId),
    ['1', '2'],
  );
  t.deepEqual(ready(flights), []);
  flights.add(due('1'), 9_000, 0);
  flights.add(due('2'), 9_000, 0);
  t.deepEqual(ready(flights), ['1']);
  t.is(flights.size, 3);
});

test('§6 a delivery that is claimed again while it is known goes again from its place, before what waits behind it', (t) => {
  const flights = new Flights();
  flights.add(due('1'), 1_000, 0);
  flights.add(due('2'), 1_000, 0);
  t.deepEqual(ready(flights), ['1']);
  flights.add(due('1'), 9_000, 0);
  t.deepEqual(ready(flights), ['1']);
  flights.remove(ACCOUNT, '1');
  t.deepEqual(ready(flights), ['2']);
  flights.add(due('2', 'addr', 1), 9_000, 0);
  t.deepEqual(ready(flights), ['2'], 'a retry has no lane');
});

test('a frame that was not taken: what left the account meanwhile does not become ready again, the rest comes first', (t) => {
  const flights = new Flights();
  for (const id of ['1', '2', '3']) flights.add(due(id, id), 9_000, 0);
  const frame = flights.takeReady(ACCOUNT, 2);
  flights.remove(ACCOUNT, '1'); // its late report came
  flights.putBack(ACCOUNT, frame);
  t.deepEqual(ready(flights), ['2', '3']);
  const second = flights.takeReady(ACCOUNT, 0);
  flights.removeAccount(ACCOUNT);
  flights.putBack(ACCOUNT, [...frame, ...second]);
  t.deepEqual(ready(flights), []);
  t.is(flights.size, 0);
});

test('found F14: a frame has so many characters at most, and one delivery however long', (t) => {
  const flights = new Flights(),
    body = 'x'.repeat(DELIVERY_CHARACTERS_PER_FRAME / 2 - 100);
  for (const id of ['1', '2', '3', '4'])
    flights.add({ ...due(id, id), body: id === '4' ? body.repeat(3) : body }, 1_000, 0);
  t.deepEqual([ready(flights), ready(flights), ready(flights), ready(flights)], [['1', '2'], ['3'], ['4'], []]);
});
