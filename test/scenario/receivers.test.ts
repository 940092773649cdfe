/**
 * The five receivers of `clients/receivers` against real deliveries of a real edge, and against what somebody else may
 * send: afterwards the table of each is what the ledger says.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Chain } from '../../protocol/slugs.ts';
import { installReceivers, RECEIVERS, type ReceiverName, type RunningReceiver } from '../support/clients/receivers.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';
import { filesOf } from '../support/tree.ts';

interface Delivery {
  readonly to: ReceiverName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the receiver answered; null while it has not. */
  status: number | null;
}
interface Page {
  readonly content: readonly Readonly<Record<'direction' | 'chain' | 'txid' | 'outputIndex' | 'amount', unknown>>[];
  readonly next?: string | null | undefined;
}
interface Endpoint extends RunningReceiver {
  readonly webhookId: string;
  readonly secrets: readonly string[];
}

const LINES_MAX = 60;
const AT_ONCE = 200;
const DEPOSITS = 10;
const STALE_SECONDS = 400;

const deliveries: Delivery[] = [];
const endpoints = new Map<ReceiverName, Endpoint>();
/** Addresses of which `deposit_detected` gets 500 until the receiver has `deposit_confirmed`. */
const overtaken = new Set<string>();
const hasConfirmed = (name: ReceiverName, address: string): boolean =>
  deliveries.some(
    ({ to, body }) => to === name && addressIn(body) === address && eventIn(body) === 'deposit_confirmed',
  );

/** Between the edge and the receivers: what comes is kept and passed on as it is. */
const between = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const to = request.url!.slice(1) as ReceiverName;
    const body = Buffer.concat(chunks).toString('utf8');
    const delivery: Delivery = { to, headers: request.headers as Record<string, string>, body, status: null };
    const address = addressIn(body);
    if (overtaken.has(address) && eventIn(body) === 'deposit_detected' && !hasConfirmed(to, address))
      return void response.writeHead(500).end();
    deliveries.push(delivery);
    delivery.status = await post(endpoints.get(to)!.url, delivery).catch(() => 502);
    response.writeHead(delivery.status).end();
  });
});
await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
const hooks = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
const flock = await openDeveloper({ edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: new URL(hooks).host } });
const receivers = installReceivers();

const { atEdge } = flock;
for (const name of RECEIVERS) {
  const { id, secret } = await atEdge.must('createWebhook', {
    body: { url: `${hooks}/${name}`, events: ['deposit_detected', 'deposit_confirmed', 'deposit_reversed'] },
  });
  const rotated = await atEdge.must('rotateWebhookSecret', { params: { webhookId: id } });
  const secrets = [secret, rotated.secret];
  endpoints.set(name, { ...(await receivers.start(name, secrets)), webhookId: id, secrets });
}

test.after.always(async () => {
  await flock.close();
  between.closeAllConnections();
  between.close();
  await receivers.stop();
});

const addressIn = (body: string): string => (JSON.parse(body) as { data: { address: string } }).data.address;
const eventIn = (body: string): string => (JSON.parse(body) as { event: string }).event;

const HEADERS = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
async function post(url: string, { headers, body }: Pick<Delivery, 'headers' | 'body'>): Promise<number> {
  const sent = Object.fromEntries(HEADERS.map((name) => [name, headers[name]!]));
  return (await fetch(url, { method: 'POST', headers: sent, body })).status;
}

function headersOf(secret: string, id: string, seconds: number, body: string): Record<string, string> {
  const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const signature = mac.update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

/** Of a customer for each chain: those of one customer are the same on all five EVM networks. */
async function newAddress(chain: Chain = 'eth'): Promise<string> {
  return (await atEdge.must('createAddress', { body: { chain, userRef: `customer-é 42 on ${chain}` } })).address;
}
const pay = (address: string, chain: Chain = 'eth') =>
  atEdge.must('simulateDeposit', { body: { chain, address, amount: '0.25', autoConfirm: true } });

/** The delivery of an event about an address to each receiver, once all have answered 2xx. */
const arrived = (address: string, event: string): Promise<Delivery[]> =>
  patiently(
    `${event} of ${address} at each receiver`,
    async () =>
      RECEIVERS.flatMap((name) => {
        const its = deliveries.filter(({ to, body }) => to === name && addressIn(body) === address);
        return its.filter(({ status, body }) => status === 204 && eventIn(body) === event).slice(0, 1);
      }),
    (all) => all.length === RECEIVERS.length,
  );

/** Rows by their key: what counts is the amount, nothing once reversed. */
async function tableOf(name: ReceiverName): Promise<Record<string, string>> {
  const rows = await endpoints.get(name)!.table<{ key: string; amount: string }[]>`
    select credit_key as key, amount::text from deposits where not is_reversed order by credit_key collate "C"`;
  return Object.fromEntries(rows.map(({ key, amount }) => [key, amount]));
}

async function ledger(): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Page = await atEdge.must('listTransactions', {
      query: { size: '100', status: 'confirmed', ...(after === '' ? {} : { after }) },
    });
    for (const { direction, chain, txid, outputIndex, amount } of page.content)
      if (direction === 'in') found.push([`${chain}:${txid}:${outputIndex}`, String(amount)]);
    after = page.next ?? null;
  }
  return Object.fromEntries(found.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

test('ecosystem X20 each receiver is 60 lines at most, and answers after its row is stored', (t) => {
  for (const { path, lines } of filesOf(['clients/receivers'], '.mjs', '.py', '.go'))
    t.true(lines.length - 1 <= LINES_MAX, `${path}: ${lines.length - 1} lines`);
  t.is(RECEIVERS.length, 5);
});

test.serial(
  'ecosystem X20, X16 good deliveries are credited once, whoever sends them again and how often',
  async (t) => {
    const address = await newAddress();
    await pay(address);
    const first = await arrived(address, 'deposit_confirmed');
    const before = await ledger();
    for (const delivery of first) {
      const { url } = endpoints.get(delivery.to)!;
      const statuses = await Promise.all([post(url, delivery), post(url, delivery)]);
      t.deepEqual(statuses, [204, 204], `${delivery.to}: the same twice at once`);
      t.deepEqual(await tableOf(delivery.to), before, delivery.to);
    }
    const { content } = await atEdge.must('listDeliveries', { query: { event: 'deposit_confirmed', size: '100' } });
    const count = deliveries.length;
    for (const { id } of content) await atEdge.must('replayDelivery', { params: { id } });
    await patiently(
      'the replays',
      async () => deliveries.filter(({ status }) => status === 204).length,
      (now) => now >= count + content.length,
    );
    for (const name of RECEIVERS) t.deepEqual(await tableOf(name), before, `${name}: a replay`);
  },
);

test.serial(
  'ecosystem X20, X15 what is not from us, not fresh or altered is refused, and stored nowhere',
  async (t) => {
    const address = await newAddress();
    await pay(address);
    const first = await arrived(address, 'deposit_confirmed');
    const stranger = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const delivery of first) {
      const { url, secrets } = endpoints.get(delivery.to)!;
      const before = await tableOf(delivery.to);
      const id = `evt_${'a'.repeat(26)}`;
      const forged = delivery.body
        .replace(delivery.headers['webhook-id']!, id)
        .replace(/"txid":"0x..../, '"txid":"0xffff');
      const now = Math.floor(Date.now() / 1_000);
      const signed = (secret: string, seconds: number): Pick<Delivery, 'headers' | 'body'> => ({
        body: forged,
        headers: headersOf(secret, id, seconds, forged),
      });
      const altered = { ...delivery, body: delivery.body.replace('"amount":"25', '"amount":"95') };
      t.not(altered.body, delivery.body);
      const unsigned = { ...delivery, headers: { ...delivery.headers, 'webhook-signature': 'unsigned' } };
      for (const [what, sent] of Object.entries({
        'a wrong secret': signed(stranger, now),
        'a stale one': signed(secrets[0]!, now - STALE_SECONDS),
        'one of the future': signed(secrets[0]!, now + STALE_SECONDS),
        'an altered byte': altered,
        'no signature': unsigned,
      }))
        t.is(await post(url, sent), 401, `${delivery.to}: ${what}`);
      t.deepEqual(await tableOf(delivery.to), before, delivery.to);
      // That the forgery is one but for its signature: by the right secret it is taken.
      t.is(await post(url, signed(secrets[0]!, now)), 204, delivery.to);
      t.is(Object.keys(await tableOf(delivery.to)).length, Object.keys(before).length + 1);
      await endpoints.get(delivery.to)!.table`delete from deposits where credit_key like 'eth:0xffff%'`;
    }
  },
);

test.serial('ecosystem X20 two secrets: while one is rotated, and after', async (t) => {
  for (const { webhookId } of endpoints.values())
    await atEdge.must('dropPreviousWebhookSecret', { params: { webhookId } });
  const address = await newAddress();
  await pay(address);
  const signatures = (await arrived(address, 'deposit_confirmed')).map(
    ({ headers }) => headers['webhook-signature']!.split(' ').length,
  );
  t.deepEqual(new Set(signatures), new Set([1]));
  t.true(deliveries.some(({ headers }) => headers['webhook-signature']!.split(' ').length === 2));
});

test.serial('ecosystem X20 confirmed before detected, and reversed', async (t) => {
  const late = await newAddress();
  overtaken.add(late);
  await pay(late);
  await arrived(late, 'deposit_confirmed');
  // One whose attempts were over by then is asked for again.
  const again = new Set<string>();
  await patiently(
    'what was overtaken',
    async () => {
      const dead = await atEdge.must('listDeadLetters', { query: { size: '100' } });
      for (const { id } of dead.content.filter((one) => !again.has(one.id))) {
        again.add(id);
        await atEdge.must('replayDelivery', { params: { id } });
      }
      return RECEIVERS.filter(
        (name) =>
          deliveries.filter(({ to, body, status }) => to === name && status === 204 && addressIn(body) === late)
            .length < 2,
      );
    },
    (missing) => missing.length === 0,
  );
  for (const name of RECEIVERS) {
    const events = deliveries.filter(({ to, body }) => to === name && addressIn(body) === late);
    t.deepEqual(
      events.slice(0, 2).map(({ body }) => eventIn(body)),
      ['deposit_confirmed', 'deposit_detected'],
      name,
    );
  }
  const gone = await newAddress('polygon');
  const { txid } = await pay(gone, 'polygon');
  const confirmed = await arrived(gone, 'deposit_confirmed');
  const holding = async () => {
    const tables = await Promise.all(RECEIVERS.map(tableOf));
    return RECEIVERS.filter((_, at) => Object.keys(tables[at]!).some((key) => key.includes(txid)));
  };
  await patiently('each receiver has credited it', holding, ({ length }) => length === RECEIVERS.length);
  const { content } = await atEdge.must('listTransactions', { query: { chain: 'polygon', size: '10' } });
  const { confirmations } = content.find((row) => row.txid === txid)!;
  await atEdge.must('simulateReorg', { body: { chain: 'polygon', depth: confirmations } });
  await arrived(gone, 'deposit_reversed');
  await patiently('each receiver has taken it back', holding, ({ length }) => length === 0);
  for (const delivery of confirmed)
    t.is(await post(endpoints.get(delivery.to)!.url, delivery), 204, `${delivery.to}: confirmed, once more and late`);
  t.deepEqual(await holding(), []);
});

test.serial('ecosystem X20 a slow database: no 2xx before the row is stored', async (t) => {
  const address = await newAddress();
  const held = await Promise.all(
    [...endpoints.values()].map(async ({ table }) => {
      const connection = await table.reserve();
      await connection`begin`;
      await connection`lock table deposits in access exclusive mode`;
      return { table, connection };
    }),
  );
  try {
    await pay(address);
    await patiently(
      'each receiver waits for its table',
      async () =>
        Promise.all(
          held.map(async ({ table }) => {
            const [row] = await table<{ waiting: number }[]>`
              select count(*)::int as waiting from pg_locks where not granted and relation is not null
              and database = (select oid from pg_database where datname = current_database())`;
            return row!.waiting;
          }),
        ),
      (waiting) => waiting.every((count) => count > 0),
    );
    const its = deliveries.filter(({ body }) => addressIn(body) === address && eventIn(body) === 'deposit_confirmed');
    t.deepEqual(its.map(({ to }) => to).toSorted(), [...RECEIVERS].toSorted());
    for (const { to, status } of its) t.is(status, null, to);
  } finally {
    for (const { connection } of held) {
      await connection`rollback`;
      connection.release();
    }
  }
  await arrived(address, 'deposit_confirmed');
});

test.serial('ecosystem X20 200 at once, and the table of each receiver is what the ledger says', async (t) => {
  const addresses = await Promise.all(Array.from({ length: DEPOSITS }, async () => newAddress()));
  for (const address of addresses) await pay(address);
  const confirmed = (await Promise.all(addresses.map(async (address) => arrived(address, 'deposit_confirmed')))).flat();
  for (const name of RECEIVERS) {
    const { url, table } = endpoints.get(name)!;
    // From nothing: each deposit is stored by whichever of its copies is first.
    await table`delete from deposits where address in ${table(addresses)}`;
    const its = confirmed.filter(({ to }) => to === name);
    const statuses = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => post(url, its[at % DEPOSITS]!)),
    );
    t.deepEqual(new Set(statuses), new Set([204]), name);
  }
  const wanted = await ledger();
  t.true(Object.keys(wanted).length > DEPOSITS);
  for (const name of RECEIVERS) t.deepEqual(await tableOf(name), wanted, name);
});

test('ecosystem X20 the table is the one that the receivers name', (t) => {
  const table = readFileSync(join(import.meta.dirname, '../../clients/receivers/table.sql'), 'utf8');
  const columns = [...table.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!);
  for (const { path, text } of filesOf(['clients/receivers'], 'store.mjs', '.py', '.go'))
    t.true(text.includes(`insert into deposits (${columns.join(', ')})`), path);
});
