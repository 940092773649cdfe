/**
 * A withdrawal that is stuck, rehearsed in the sandbox: through a real edge, on every family that can pay more for it.
 */
import test, { type ExecutionContext } from 'ava';
import { EVENTS, type Chain } from '../../protocol/slugs.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { own } from '../support/btc-inputs.ts';
import { openDeveloper } from '../support/developer.ts';
import { ours as xlmAt } from '../support/xlm-node.ts';
import { ours as xrpAt } from '../support/xrp-node.ts';

const EVM_PAYEE = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';
/** Funds, what is sent of it in the smallest unit, and to whom. */
const CASES: readonly { chain: Chain; funds: string; amount: string; to: string }[] = [
  ...(['eth', 'bsc', 'polygon', 'avax', 'base'] as const).map((chain) => ({
    chain,
    funds: '2',
    amount: '100000000000000000',
    to: EVM_PAYEE,
  })),
  { chain: 'btc', funds: '0.5', amount: '1000000', to: own(900).address },
  { chain: 'xrp', funds: '100', amount: '5000000', to: xrpAt(0, 9).address },
  { chain: 'xlm', funds: '100', amount: '50000000', to: xlmAt(9).address },
];

const flock = await openDeveloper();
flock.receiver.setSecret(
  (await flock.atEdge.must('createWebhook', { body: { url: flock.receiver.url, events: [...EVENTS] } })).secret,
);
test.after.always(() => flock.close());

const { calm: client } = flock;
const recordOf = (id: string) => client.must('getTransaction', { params: { id } });
const placesOf = async (id: string) => (await recordOf(id)).versions.map(({ at }) => at);
const pageOf = async (url: string | null) => {
  const answer = await fetch(`${flock.deployment.cloudUrl}${new URL(url!).pathname}`);
  return { status: answer.status, text: await answer.text() };
};
const balanceOf = async (chain: Chain, address: string) =>
  BigInt((await client.must('getBalance', { params: { chain, address } })).amount);
let payments = 0;

async function funded(chain: Chain, funds: string): Promise<string> {
  const { address } = await client.must('createAddress', { body: { chain, userRef: 'customer-1' } });
  await client.must('simulateDeposit', { body: { chain, address, amount: funds, autoConfirm: true } });
  return address;
}

/** A payment that waits in the pool at two prices: the txids of its versions, the older one first. */
async function repriced(
  t: ExecutionContext,
  { chain, amount, to }: (typeof CASES)[number],
  from: string,
): Promise<{ id: string; txids: [string, string] }> {
  payments += 1;
  const { id } = await client.must('buildTransaction', {
    body: { chain, from, to, amount, paymentRef: `payout-${payments}` },
  });
  const params = { id };
  const first = await client.must('broadcastTransaction', { params });
  t.like(first, {
    status: 'broadcast',
    confirmations: 0,
    height: null,
    fee: null,
    versions: [{ txid: first.txid!, at: 'node' }],
  });
  const page = await pageOf(first.explorerUrl);
  t.is(page.status, 200);
  t.regex(page.text, />Pending</);
  const stuckFee = (await client.must('repriceTransaction', { params })).feeEstimate;
  t.is((await recordOf(id)).txid, first.txid, 'nothing is sent by a repricing alone');
  const second = await client.must('broadcastTransaction', { params });
  t.not(second.txid, first.txid);
  t.deepEqual(
    second.versions,
    [
      { txid: first.txid!, at: 'replaced' },
      { txid: second.txid!, at: 'node' },
    ],
    `${chain} ${JSON.stringify(stuckFee)}`,
  );
  t.regex((await pageOf(first.explorerUrl)).text, />Replaced</);
  t.regex((await pageOf(second.explorerUrl)).text, />Pending</);
  return { id, txids: [first.txid!, second.txid!] };
}

for (const one of CASES) {
  const { chain, funds, amount, to } = one;
  for (const winner of [1, 0] as const) {
    test.serial(
      `found F70: ${chain}: a withdrawal is stuck in the sandbox, repriced, and ${winner === 1 ? 'the newer version replaces the old one' : 'the old version wins'}`,
      async (t) => {
        const from = await funded(chain, funds),
          before = await balanceOf(chain, from);
        t.deepEqual(await client.must('simulateStuck', { body: { chain, stuck: true } }), { stuck: true, mined: [] });
        const { id, txids } = await repriced(t, one, from);
        t.is(await balanceOf(chain, from), before, 'nothing moved');
        await client.must('simulateConfirmation', { body: { chain, txid: txids[winner], confirmations: 1 } });
        t.like(await recordOf(id), { txid: txids[winner], confirmations: 1 });
        t.deepEqual(await placesOf(id), winner === 1 ? ['replaced', 'block'] : ['block', 'replaced']);
        const { threshold } = await recordOf(id);
        await client.must('simulateConfirmation', { body: { chain, txid: txids[winner], confirmations: threshold } });
        const done = await recordOf(id);
        t.like(done, { status: 'confirmed', txid: txids[winner], failure: null });
        t.is(
          await balanceOf(chain, from),
          before - BigInt(amount) - BigInt(done.fee!),
          'paid once, at the fee of the version that won',
        );
        const event = await flock.receiver.next(
          (got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === id,
        );
        t.like(event.data, { txid: txids[winner], fee: done.fee!, height: done.height! });
        t.is(
          flock.receiver.received.filter(
            (got) => got.event === 'withdrawal_broadcast' && got.data['transactionId'] === id,
          ).length,
          1,
          'one broadcast',
        );
        t.is((await pageOf(done.explorerUrl)).status, 200);
        t.like(
          await client.call('simulateConfirmation', { body: { chain, txid: txids[1 - winner]!, confirmations: 1 } }),
          { code: 'NOT_FOUND' },
        );
        t.deepEqual(await client.must('simulateStuck', { body: { chain, stuck: false } }), { stuck: false, mined: [] });
      },
    );
  }

  test.serial(
    `found F70: ${chain}: when the pool is let go the version that is in it is mined, and a broadcast is mined at once again`,
    async (t) => {
      const from = await funded(chain, funds);
      await client.must('simulateStuck', { body: { chain, stuck: true } });
      const { id, txids } = await repriced(t, one, from);
      t.deepEqual(await client.must('simulateStuck', { body: { chain, stuck: false } }), {
        stuck: false,
        mined: [txids[1]],
      });
      t.deepEqual(await placesOf(id), ['replaced', 'block']);
      payments += 1;
      const { id: next } = await client.must('buildTransaction', {
        body: { chain, from, to, amount, paymentRef: `payout-${payments}` },
      });
      const sent = await client.must('broadcastTransaction', { params: { id: next } });
      await client.must('simulateConfirmation', { body: { chain, txid: sent.txid!, confirmations: 1 } });
      t.deepEqual(await placesOf(next), ['block']);
    },
  );
}

for (const { chain, funds, amount, to } of CASES.filter(
  ({ chain }) => chain === 'eth' || chain === 'btc' || chain === 'xrp',
))
  test.serial(
    `found F70: ${chain}: a payment behind a stuck one waits for it; its block holds both, the older one first`,
    async (t) => {
      const from = await funded(chain, funds);
      await client.must('simulateStuck', { body: { chain, stuck: true } });
      const ids: string[] = [],
        txids: string[] = [];
      for (const nth of [1, 2, 3]) {
        const { id } = await client.must('buildTransaction', {
          body: { chain, from, to, amount, paymentRef: `behind-${chain}-${nth}` },
        });
        ids.push(id);
        txids.push((await client.must('broadcastTransaction', { params: { id } })).txid!);
      }
      await client.must('simulateConfirmation', { body: { chain, txid: txids[1]!, confirmations: 1 } });
      const [first, second, third] = await Promise.all(ids.map(recordOf));
      t.true(first!.height !== null && first!.height === second!.height);
      t.is(third!.height, null);
      await client.must('simulateStuck', { body: { chain, stuck: false } });
      t.is((await recordOf(ids[2]!)).confirmations, 1);
    },
  );

test.serial('found F70: what cannot be in a block is refused by name, and only a sandbox has the lever', async (t) => {
  t.like(await client.call('simulateStuck', { body: { chain: 'eth' } as never }), { code: 'INVALID_INPUT' });
  t.like(await client.call('simulateConfirmation', { body: { chain: 'eth', txid: '0xnowhere', confirmations: 1 } }), {
    code: 'NOT_FOUND',
  });
  t.true(isRefusal(await flock.atCloud.call('simulateStuck', { body: { chain: 'doge', stuck: true } as never })));
});
