/**
 * The connection to the cloud ends in every step between a build and its broadcast, at every place of the answer: the
 * edge signs no second equal payment, and forgets nothing that it signed.
 */
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { builtFor, RECEIVER, transactionFor } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, FIRST, startTestEdge, type EdgeReply, type TestEdge } from '../../support/edge/edges.ts';
import { askedOf, builtOf, unsignedFor } from '../../support/edge/families.ts';
import { CUTS, HostileCloud, type Seen } from '../../support/edge/hostile-cloud.ts';

const WANTED = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };
const COUNTER = 'POST /v1/edge/transactions/{id}/counter';
const STEPS = { counter: /\/counter$/, submission: /\/signed$/ } as const;

interface Stage {
  readonly cloud: HostileCloud;
  readonly dataDir: string;
  readonly start: () => Promise<TestEdge>;
}

async function stage(t: ExecutionContext, chain: 'eth' | 'sol'): Promise<Stage> {
  const cloud = await HostileCloud.start(),
    dataDir = newDirectory();
  t.teardown(() => cloud.close());
  return {
    cloud,
    dataDir,
    async start() {
      const edge = await startTestEdge(t, cloud.url, { dataDir, env: { EDGE_CHAINS: chain } });
      await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
      return edge;
    },
  };
}

let ids = 0;
/** A build of 1 ETH under this nonce; the cloud binds the same one. */
async function buildEth(
  t: ExecutionContext,
  cloud: HostileCloud,
  edge: TestEdge,
  nonce: number,
  paymentRef: string,
): Promise<string> {
  const id = newId('txn', (ids += 1)),
    told = () => builtFor(WANTED, transactionFor(WANTED, { nonce }), id);
  cloud.on(COUNTER, () => ({ data: told() }));
  return build(t, cloud, edge, told(), {
    chain: 'eth',
    from: WANTED.from,
    to: WANTED.to,
    amount: WANTED.amount.toString(),
    paymentRef,
  });
}

async function build(
  t: ExecutionContext,
  cloud: HostileCloud,
  edge: TestEdge,
  told: BuiltJson,
  body: object,
): Promise<string> {
  cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
  const built = await edge.ask('POST', '/v1/transactions/unsigned', body);
  t.is(built.status, 201, built.text);
  return told.id;
}

const broadcast = (edge: TestEdge, id: string): Promise<EdgeReply> =>
  edge.ask('POST', `/v1/transactions/${id}/broadcast`);
const payloadsOf = ({ submitted }: HostileCloud, id: string): string[] =>
  submitted.filter((one) => one.id === id).map(({ signedPayload }) => signedPayload);

/** Ends the connection of the first request of a path that is not of an id before. */
function cutOnce(cloud: HostileCloud, path: RegExp, cut: (typeof CUTS)[number]): { readonly count: () => number } {
  let count = 0;
  cloud.cut = (seen: Seen) => (path.test(seen.path) && (count += 1) === 1 ? cut : null);
  return { count: () => count };
}

test('found: a connection that ends at any place of any answer between build and broadcast costs neither a second payment nor the first: eth', async (t) => {
  const { cloud, start } = await stage(t, 'eth'),
    edge = await start();
  let nonce = 3;
  for (const [step, path] of Object.entries(STEPS)) {
    for (const cut of CUTS) {
      const name = `${step}, ${cut}`,
        id = await buildEth(t, cloud, edge, nonce, name);
      const cuts = cutOnce(cloud, path, cut);
      let sent = await broadcast(edge, id);
      if (sent.status !== 200) {
        // It says what is signed: before the counter is bound there is nothing.
        t.is(sent.error?.details['signed'] === true, payloadsOf(cloud, id).length > 0, `${name}: ${sent.text}`);
        sent = await broadcast(edge, id);
      }
      t.is(sent.status, 200, `${name}: ${sent.text}`);
      t.true(cuts.count() > 0, name);
      t.is(new Set(payloadsOf(cloud, id)).size, 1, name);
      nonce += 1;
      const equal = await buildEth(t, cloud, edge, nonce, name);
      t.is((await broadcast(edge, equal)).error?.details['reason'], 'equal_payment_signed', name);
      t.deepEqual(payloadsOf(cloud, equal), [], name);
    }
  }
});

test('found: while the cloud is silent or cuts each answer to the signed bytes no equal payment is signed, and a new process submits the same bytes by itself: sol', async (t) => {
  const { cloud, start } = await stage(t, 'sol');
  let edge = await start();
  const body = { ...askedOf({ chain: 'sol' }), paymentRef: 'one' },
    buildSol = async (variant: number) =>
      build(t, cloud, edge, builtOf(await unsignedFor({ chain: 'sol' }, variant), newId('txn', (ids += 1))), body);
  const id = await buildSol(0),
    gate = Promise.withResolvers<void>();
  let isSilent = false;
  const txids: string[] = [];
  cloud.on('POST /v1/edge/transactions/{id}/signed', async (seen) => {
    txids.push((JSON.parse(seen.body) as { txid: string }).txid);
    isSilent = true;
    await gate.promise;
    return { data: {}, status: 201 };
  });
  cloud.cut = ({ path }) => (STEPS.submission.test(path) ? CUTS[txids.length % 3]! : null);
  const sent = broadcast(edge, id);
  await eventually('it is submitted', () => isSilent);
  const whileSilent = await broadcast(edge, await buildSol(1));
  t.is(whileSilent.error?.details['reason'], 'equal_payment_signed', whileSilent.text);
  gate.resolve();
  await eventually('the same bytes come at each place of the answer', () => txids.length > CUTS.length);
  const whileCut = await broadcast(edge, await buildSol(2));
  t.is(whileCut.error?.details['reason'], 'equal_payment_signed', whileCut.text);
  await edge.edge.stop();
  t.like((await sent).error?.details, { signed: true });
  t.is(new Set(txids).size, 1);
  const before = txids.length;
  edge = await start();
  await eventually('a new process submits it by itself', () => txids.length > before);
  t.is(new Set(txids).size, 1);
  const afterwards = await broadcast(edge, await buildSol(3));
  t.is(afterwards.error?.details['reason'], 'equal_payment_signed', afterwards.text);
});

test('found: a broadcast by way of the leader whose answer is cut says that it may be signed, and no equal payment is signed when this replica leads', async (t) => {
  const { cloud, start } = await stage(t, 'sol');
  cloud.role = 'follower';
  const edge = await start();
  const pay = async (variant: number, paymentRef: string) => {
    const told = builtOf(await unsignedFor({ chain: 'sol' }, variant), newId('txn', (ids += 1)));
    return broadcast(edge, await build(t, cloud, edge, told, { ...askedOf({ chain: 'sol' }), paymentRef }));
  };
  cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'CHAIN_REJECTED' }));
  for (const [variant, cut] of CUTS.entries()) {
    cutOnce(cloud, /\/broadcast$/, cut);
    const { error, text } = await pay(variant, cut);
    t.like(error?.details, { mayBeSigned: true }, `${cut}: ${text}`);
    t.is(error?.code, cut === 'after_body' ? 'CHAIN_REJECTED' : 'UPSTREAM_UNAVAILABLE', text);
  }
  cloud.role = 'leader';
  cloud.leaseEpoch += 1;
  cloud.push('lease', { role: 'leader', leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
  await eventually('it leads', () => edge.logged.some(({ msg, role }) => msg === 'lease_changed' && role === 'leader'));
  for (const [variant, cut] of CUTS.entries())
    t.is((await pay(10 + variant, cut)).error?.details['reason'], 'equal_payment_signed', cut);
  t.deepEqual(cloud.submitted, []);
});
