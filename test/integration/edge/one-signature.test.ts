/**
 * What is signed is one thing: one signature of an instruction whatever comes at once (F1), one text (F13), one
 * environment (F10).
 */
import test, { type ExecutionContext } from 'ava';
import type { Network } from '../../../chains/chain.ts';
import { loadModule, networkOf } from '../../../chains/registry.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { eventually, startTestEdge, type TestEdge } from '../../support/edge/edges.ts';
import { builtFor, RECEIVER, transactionFor } from '../../support/edge/built.ts';
import {
  askedOf,
  builtOf,
  FAMILY_CHAINS,
  fromOf,
  recordOf,
  unsignedFor,
  type FamilyChain,
} from '../../support/edge/families.ts';
import { reEncodingsOf } from '../../support/edge/re-encodings.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';

async function stage(
  t: ExecutionContext,
  chain: FamilyChain,
  env: Record<string, string>,
): Promise<{ cloud: HostileCloud; edge: TestEdge; build: () => Promise<string> }> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: chain, ...env } });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return {
    cloud,
    edge,
    async build() {
      const id = newId('txn', Date.now()),
        built = builtOf(await unsignedFor({ chain }), id);
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: built, status: 201 }));
      const reply = await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }));
      t.is(reply.status, 201, reply.text);
      return id;
    },
  };
}

for (const chain of FAMILY_CHAINS) {
  test.serial(
    `found F1: broadcasts that come at once are answered alike, with one signature, while a shared ledger is asked: ${chain}`,
    async (t) => {
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
    },
  );
}

for (const chain of ['sol', 'tron'] as const) {
  test.serial(
    `found F1: a lease that lapses between two broadcasts makes no second signature and no refusal that sounds final: ${chain}`,
    async (t) => {
      const { cloud, edge, build } = await stage(t, chain, { EDGE_SPEND_LEDGER: newDirectory() });
      const id = await build();
      cloud.push('lease', { role: 'follower', leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
      t.false((await cloud.sign(newId('txn', 1))).ok, 'frames come in order: the lease is lost');
      const answers = await Promise.all([1, 2, 3].map(() => edge.ask('POST', `/v1/transactions/${id}/broadcast`)));
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
      t.is(new Set(cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
    },
  );
}

test.serial('found F10: a sandbox edge signs for its own ledgers only, whatever the cloud builds', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    env: { EDGE_CHAINS: FAMILY_CHAINS.join(',') },
  });
  await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const ask = async (chain: FamilyChain, network: Network) => {
    const id = newId('txn', Date.now()),
      unsigned = await unsignedFor({ chain }, 0, Date.now(), network);
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: builtOf(unsigned, id), status: 201 }));
    return { id, unsigned, reply: await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain })) };
  };
  for (const [chain, reason] of [
    ['eth', 'chain_id_mismatch'],
    ['xrp', 'network_id_mismatch'],
  ] as const) {
    const { reply } = await ask(chain, networkOf(chain));
    t.like(reply, { status: 400, error: { code: 'SIGNED_BATCH_REJECTED', details: { reason } } }, chain);
  }
  for (const chain of FAMILY_CHAINS) {
    const network = sandboxOf(networkOf(chain)),
      { id, unsigned, reply } = await ask(chain, network);
    t.is(reply.status, 201, reply.text);
    await edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    const sent = cloud.submitted.find((one) => one.id === id)!;
    const module = await loadModule(chain),
      signed = { chain, payload: sent.signedPayload, txid: sent.txid };
    t.is(module.matchSigned(network, unsigned, signed), null, chain);
    t.is(module.matchSigned(networkOf(chain), unsigned, signed)?.code, 'SIGNED_BATCH_REJECTED', chain);
  }
});

test.serial(
  'found F13: a build in any other text than the one that is signed is refused at once, and nothing is kept of it',
  async (t) => {
    const cloud = await HostileCloud.start();
    t.teardown(() => cloud.close());
    const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: FAMILY_CHAINS.join(',') } });
    await eventually('it leads', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
    for (const chain of FAMILY_CHAINS) {
      const unsigned = await unsignedFor({ chain });
      for (const { what, text } of reEncodingsOf(chain, unsigned.payload)) {
        const id = newId('txn', Date.now());
        cloud.on('POST /v1/transactions/unsigned', () => ({
          data: builtOf({ ...unsigned, payload: text }, id),
          status: 201,
        }));
        const reply = await edge.ask('POST', '/v1/transactions/unsigned', askedOf({ chain }));
        t.like(
          reply,
          { status: 400, error: { code: 'SIGNED_BATCH_REJECTED', details: { reason: 'not_canonical' } } },
          `${chain}: ${what}`,
        );
        t.like(await cloud.sign(id), { ok: false, details: { reason: 'no_instruction' } });
      }
    }
    t.deepEqual(cloud.submitted, []);
  },
);

test.serial(
  'found F1: an instruction that is repriced at every look ends in a refusal and an alarm, and in no signature',
  async (t) => {
    const { cloud, edge } = await stage(t, 'eth', {});
    const from = fromOf('eth'),
      at = (amount: bigint, gwei: number) => {
        const wanted = { from, to: RECEIVER, amount };
        return { wanted, transaction: transactionFor(wanted, { maxFeePerGas: BigInt(gwei) * 1_000_000_000n }) };
      };
    const build = async (amount: bigint) => {
      const { wanted, transaction } = at(amount, 30),
        built = builtFor(wanted, transaction);
      cloud.on('POST /v1/transactions/unsigned', () => ({ data: built, status: 201 }));
      const reply = await edge.ask('POST', '/v1/transactions/unsigned', {
        chain: 'eth',
        from,
        to: RECEIVER,
        amount: amount.toString(),
      });
      t.is(reply.status, 201, reply.text);
      return built;
    };
    const first = await build(10n ** 16n);
    await edge.ask('POST', `/v1/transactions/${first.id}/broadcast`);
    const signed = cloud.submitted.length;
    // The cloud calls the first failed, so that its nonce is free, and has the second repriced before it says so.
    let price = 30,
      isAsked = false,
      reprice = async (): Promise<void> => undefined;
    cloud.on(`GET /v1/transactions/${first.id}`, async () => {
      if (!isAsked) {
        isAsked = true;
        await reprice();
        isAsked = false;
      }
      return { data: recordOf(first, 'failed', null) };
    });
    const second = await build(2n * 10n ** 16n);
    reprice = async () => {
      price += 1;
      const { wanted, transaction } = at(2n * 10n ** 16n, price);
      cloud.on(`PATCH /v1/transactions/unsigned/${second.id}`, () => ({
        data: builtFor(wanted, transaction, second.id),
      }));
      const reply = await edge.ask('PATCH', `/v1/transactions/unsigned/${second.id}`, {});
      t.is(reply.status, 200, reply.text);
    };
    const answer = await edge.ask('POST', `/v1/transactions/${second.id}/broadcast`);
    t.like(
      answer,
      { status: 409, error: { code: 'CONFLICT', details: { reason: 'signing_not_settled', looks: 16 } } },
      answer.text,
    );
    t.true(edge.logged.some(({ msg }) => msg === 'signing_not_settled'));
    t.is(cloud.submitted.length, signed);
  },
);
