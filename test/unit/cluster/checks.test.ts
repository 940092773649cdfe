/**
 * The checkers of a story of several nodes, on a service that is right, under random interleavings with lost answers;
 * and each on the bug that it looks for.
 */
import test from 'ava';
import { ADDRESS, CHECKS, KEY, PAYMENT, problemsOf, type Books, type CheckName } from '../../support/cluster/checks.ts';
import { Recorder, type Operation } from '../../support/cluster/recorder.ts';
import { seeded } from '../../support/seeded.ts';

const SEEDS = 200;
const STEPS = 60;

type Plant =
  | 'forgets keys'
  | 'answers a repetition anew'
  | 'takes another body'
  | 'reads stale'
  | 'acknowledges and loses an address'
  | 'acknowledges and loses a payment'
  | 'issues twice'
  | 'deposits twice'
  | 'credits twice'
  | 'credits another amount'
  | 'credits nothing'
  | 'publishes nothing'
  | 'publishes twice'
  | 'publishes in the wrong order'
  | 'delivers other bytes'
  | 'delivers nothing'
  | 'delivers confirmed first'
  | 'delivers what was not published'
  | 'lets epochs fall'
  | 'never comes to rest';

/** Who has to find it, at the least. */
const FOUND_BY: Readonly<Record<Plant, CheckName>> = {
  'forgets keys': 'linearizable',
  'answers a repetition anew': 'linearizable',
  'takes another body': 'linearizable',
  'reads stale': 'linearizable',
  'acknowledges and loses an address': 'nothingLost',
  'acknowledges and loses a payment': 'nothingLost',
  'issues twice': 'nothingTwice',
  'deposits twice': 'nothingTwice',
  'credits twice': 'nothingTwice',
  'credits another amount': 'nothingTwice',
  'credits nothing': 'nothingTwice',
  'publishes nothing': 'eventsOnce',
  'publishes twice': 'eventsOnce',
  'publishes in the wrong order': 'eventsOnce',
  'delivers other bytes': 'eventsOnce',
  'delivers nothing': 'eventsOnce',
  'delivers confirmed first': 'eventsOnce',
  'delivers what was not published': 'eventsOnce',
  'lets epochs fall': 'epochsRise',
  'never comes to rest': 'drained',
};

/** A service in a few lines: its effects happen at any moment between a question and its answer, or without one. */
function tell(seed: number, plant: Plant | null): { history: Operation[]; books: Books } {
  const random = seeded(seed),
    pick = (below: number) => Math.floor(random() * below),
    now = (name: Plant) => plant === name;
  const recorder = new Recorder();
  const keys = new Map<string, { body: string; reply: { id: string; address: string } }>();
  const addresses: { id: string; address: string; userRef: string; status: string }[] = [];
  const deposits: Books['deposits'][number][] = [];
  const published = new Map<string, string>();
  const arrivals: { eventId: string; raw: string }[] = [];
  const epochs: ReadonlyMap<string, number>[] = [];
  const statuses = new Map<string, string[]>();
  let made = 0;
  const issue = (userRef: string) => {
    made += 1;
    const row = { id: `adr_${made}`, address: `0x${made}`, userRef, status: 'active' };
    if (!(now('acknowledges and loses an address') && made % 3 === 0)) addresses.push(row);
    return { id: row.id, address: row.address };
  };
  const byKey = (key: string, body: string) => {
    const known = now('forgets keys') ? undefined : keys.get(key);
    if (known === undefined) {
      const reply = issue(body);
      if (now('issues twice')) issue(body);
      keys.set(key, { body, reply });
      return { reply };
    }
    if (known.body !== body && !now('takes another body')) return { conflict: true as const };
    return now('answers a repetition anew') ? { reply: { ...known.reply, id: `${known.reply.id}x` } } : known;
  };
  const deposit = (amount: string): { txid: string } => {
    made += 1;
    const txid = `tx${made}`;
    const paid = now('credits another amount') ? `${amount}0` : amount;
    const names = ['deposit_detected', 'deposit_confirmed'];
    if (now('publishes nothing')) names.pop();
    if (now('publishes twice')) names.push('deposit_confirmed');
    if (now('publishes in the wrong order')) names.reverse();
    const events = names.map((event, at) => ({ eventId: `evt ${txid} ${at}`, event, attempts: 1 }));
    for (const { eventId, event } of events) published.set(eventId, `${event} ${txid}`);
    const arriving = events.map(({ eventId }) => ({ eventId, raw: published.get(eventId)! }));
    if (now('delivers confirmed first')) arriving.reverse();
    if (now('delivers nothing')) arriving.pop();
    if (now('delivers other bytes')) arriving[0]!.raw += '!';
    if (now('delivers what was not published')) arriving.push({ eventId: 'evt unknown', raw: '' });
    arrivals.push(...arriving, ...(random() < 0.3 ? arriving : []));
    const credits = now('credits nothing') ? [] : now('credits twice') ? [paid, paid] : [paid];
    const row = { txid, amount, status: 'confirmed', credits, events };
    if (!(now('acknowledges and loses a payment') && made % 3 === 0)) deposits.push(row);
    if (now('deposits twice')) deposits.push(row);
    return { txid };
  };
  /** What is under way: what it does, and what its caller hears. */
  const flights: { act: () => unknown; effect: unknown; done: boolean; heard: (output: unknown) => void }[] = [];
  const begin = (subject: string, input: unknown, act: () => unknown): void => {
    const operation = recorder.invoke<unknown, unknown>(subject, input, `client ${pick(4)}`);
    flights.push({ act, effect: null, done: false, heard: (output) => recorder.ok(operation, output) });
  };
  const progress = (): void => {
    const flight = flights[pick(flights.length)];
    if (flight === undefined) return;
    if (!flight.done) {
      flight.effect = flight.act();
      flight.done = true;
      return;
    }
    flights.splice(flights.indexOf(flight), 1);
    if (random() < 0.75) flight.heard(flight.effect);
  };
  for (let step = 0; step < STEPS; step += 1) {
    const dice = random();
    if (dice < 0.2) {
      // One key in ten is asked with two bodies.
      const key = `${pick(10)}`,
        body = key === '0' ? `ref 0 ${pick(2)}` : `ref ${key}`;
      begin(`${KEY}${key}`, { body }, () => byKey(key, body));
    } else if (dice < 0.3) {
      const amount = `${step}`;
      begin(`${PAYMENT}${amount}`, { amount }, () => deposit(amount));
    } else if (dice < 0.45) {
      const name = `${pick(3)}`,
        values = statuses.get(name) ?? ['active'];
      statuses.set(name, values);
      const write = random() < 0.5 ? 'archived' : 'active';
      if (random() < 0.5) {
        begin(`${ADDRESS}${name}`, { write }, () => {
          values.push(write);
          return write;
        });
      } else begin(`${ADDRESS}${name}`, 'read', () => (now('reads stale') ? values[0] : values.at(-1)));
    } else progress();
    if (step % 5 === 0) epochs.push(new Map([['shard 1', now('lets epochs fall') ? STEPS - step : step]]));
  }
  while (flights.length > 0) progress();
  const open = now('never comes to rest') ? ['2 facts wait'] : [];
  return { history: recorder.operations, books: { addresses, deposits, published, arrivals, epochs, open } };
}

test('a service that is right passes every check, under any interleaving and with answers lost', (t) => {
  let unknown = 0,
    answered = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { history, books } = tell(seed, null);
    t.deepEqual(problemsOf(history, books), [], `seed ${seed}`);
    unknown += history.filter(({ outcome }) => outcome === 'unknown').length;
    answered += history.filter(({ outcome }) => outcome === 'ok').length;
  }
  t.true(unknown > 100 && answered > 1_000);
});

for (const [plant, check] of Object.entries(FOUND_BY) as [Plant, CheckName][]) {
  test(`planted bug: a service that ${plant} is found by ${check}`, (t) => {
    let found = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { history, books } = tell(seed, plant);
      if (CHECKS[check](history, books).length > 0) found += 1;
    }
    t.true(found >= SEEDS / 20, `${found} of ${SEEDS} seeds`);
  });
}
