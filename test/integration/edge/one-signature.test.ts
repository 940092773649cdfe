/** What is signed is one thing: one signature of an instruction whatever comes at once (F1), one text (F13), one environment (F10). */
import test, { type ExecutionContext } from 'ava';
import type { Network } from '../../../chains/chain.ts';
import { loadModule, networkOf } from '../../../chains/registry.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { newId } from '../../../protocol/ids.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, startTestEdge, type TestEdge } from '../../support/edge/edges.ts';
import { askedOf, builtOf, FAMILY_CHAINS, unsignedFor, type FamilyChain } from '../../support/edge/families.ts';
import { reEncodingsOf } from '../../support/edge/re-encodings.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';

async function stage(t: ExecutionContext, chain: FamilyChain, env: Record<string, string>): Promise<{ cloud: HostileCloud; edge: TestEdge; build: () => Promise<string> }> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: chain, ...env } });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return {
    cloud, edge,
    async build() {
      const id = newId('txn', Date.now()), built = builtOf(await unsignedFor({ chain }), id);
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: built, status: 201 }));
      const reply = await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }));
      t.is(reply.status, 201, reply.text);
      return id;
    },
  };
}

for (const chain of FAMILY_CHAINS) {
  test.serial(`found F1: broadcasts that come at once are answered alike, with one signature, while a shared ledger is asked: ${chain}`, async (t) => {
    const { cloud, edge, build } = await stage(t, chain, { EDGE_SPEND_LEDGER: await newSpendDatabase(t) });
    const id = await build();
    const broadcast = () => edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    const answers = await Promise.all([broadcast(), broadcast(), cloud.sign(id), broadcast()]);
    for (const answer of answers) {
      // A frame that comes before the first of them asks for what nobody broadcast yet.
      if ('ok' in answer) t.true(answer.ok || answer.details?.['reason'] === 'not_broadcast');
      else t.is(answer.status, 200, answer.text);
    }
    t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
  });
}

for (const chain of ['sol', 'tron'] as const) {
  test.serial(`found F1: a lease that lapses between two broadcasts makes no second signature and no refusal that sounds final: ${chain}`, async (t) => {
    const { cloud, edge, build } = await stage(t, chain, { EDGE_SPEND_LEDGER: newDirectory() });
    const id = await build();
    cloud.push('lease', { role: 'follower', leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
    t.false((await cloud.sign(newId('txn', 1))).ok, 'frames come in order: the lease is lost');
    const answers = await Promise.all([1, 2, 3].map(() => edge.ask('POST', `/v1/transactions/${id}/broadcast`)));
    t.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
    t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
  });
}

test.serial('found F10: a sandbox edge signs for its own ledgers only, whatever the cloud builds', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { environment: 'sandbox', env: { EDGE_CHAINS: FAMILY_CHAINS.join(',') } });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const ask = async (chain: FamilyChain, network: Network) => {
    const id = newId('txn', Date.now()), unsigned = await unsignedFor({ chain }, 0, Date.now(), network);
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: builtOf(unsigned, id), status: 201 }));
    return { id, unsigned, reply: await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain })) };
  };
  for (const [chain, reason] of [['eth', 'chain_id_mismatch'], ['xrp', 'network_id_mismatch']] as const) {
    const { reply } = await ask(chain, networkOf(chain));
    t.like(reply, { status: 400, error: { code: 'SIGNED_BATCH_REJECTED', details: { reason } } }, chain);
  }
  for (const chain of FAMILY_CHAINS) {
    const network = sandboxOf(networkOf(chain)), { id, unsigned, reply } = await ask(chain, network);
    t.is(reply.status, 201, reply.text);
    await edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    const sent = cloud.submitted.find((one) => one.id === id)!;
    const module = await loadModule(chain), signed = { chain, payload: sent.signedPayload, txid: sent.txid };
    t.is(module.matchSigned(network, unsigned, signed), null, chain);
    t.is(module.matchSigned(networkOf(chain), unsigned, signed)?.code, 'SIGNED_BATCH_REJECTED', chain);
  }
});

test.serial('found F13: a build in any other text than the one that is signed is refused at once, and nothing is kept of it', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: FAMILY_CHAINS.join(',') } });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  for (const chain of FAMILY_CHAINS) {
    const unsigned = await unsignedFor({ chain });
    for (const { what, text } of reEncodingsOf(chain, unsigned.payload)) {
      const id = newId('txn', Date.now());
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: builtOf({ ...unsigned, payload: text }, id), status: 201 }));
      const reply = await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }));
      t.like(reply, { status: 400, error: { code: 'SIGNED_BATCH_REJECTED', details: { reason: 'not_canonical' } } }, `${chain}: ${what}`);
      t.like(await cloud.sign(id), { ok: false, details: { reason: 'no_instruction' } });
    }
  }
  t.deepEqual(cloud.submitted, []);
});
