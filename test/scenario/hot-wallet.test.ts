/**
 * An address that somebody uses as a hot wallet, on a real node: no person looks at it, and some builds are only
 * previews.
 */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently } from '../support/company.ts';

const OUTSIDER = '0x000000000000000000000000000000000000bEEF';
const WITHDRAWALS = 100,
  BLOCKS_MAX = 15,
  PREVIEWS = 20,
  TOGETHER = 8,
  LIMIT = 16;

test('found F43: 100 builds from one address, then 100 broadcasts in any order, eight at a time, land in 15 blocks without a person', async (t) => {
  t.timeout(600_000);
  const company = await openCompany();
  try {
    const { anvil, client, receiver, sql } = company;
    const address = await patiently('address', () =>
      client.call('createAddress', { body: { chain: 'eth', userRef: 'hot' } }),
    );
    if (isRefusal(address)) throw new Error(address.code);
    await company.pay(address.address, 10n ** 18n);
    await company.mine(1 + CONFIRMATIONS);
    await receiver.next(({ event }) => event === 'deposit_confirmed');
    const build = (key: string) =>
      client.must('buildTransaction', {
        body: { chain: 'eth', from: address.address, to: OUTSIDER, amount: '1000', paymentRef: key },
        idempotencyKey: key,
      });
    const countOf = async () => Number(await anvil.rpc('eth_getTransactionCount', [address.address, 'latest']));
    const ids: string[] = [];
    const keys = Array.from({ length: WITHDRAWALS + PREVIEWS }, (_, n) => (n % 6 === 5 ? `preview-${n}` : `send-${n}`));
    while (keys.length > 0)
      await Promise.all(
        keys.splice(0, TOGETHER).map(async (key) => {
          const { id } = await build(key);
          if (key.startsWith('send')) ids.push(id); // a preview is never broadcast
        }),
      );
    t.is(ids.length, WITHDRAWALS);
    const left = ids
      .map((id, index) => ({ id, place: (index * 73) % WITHDRAWALS }))
      .sort((a, b) => a.place - b.place)
      .map(({ id }) => id);
    let blocks = 0,
      sent = 0;
    while (left.length > 0) {
      const asked = left.splice(0, TOGETHER);
      const answers = await Promise.all(
        asked.map(async (id) => ({ id, answer: await client.call('broadcastTransaction', { params: { id } }) })),
      );
      const refused = answers.flatMap(({ id, answer }) => (isRefusal(answer) ? [{ id, answer }] : []));
      sent += answers.length - refused.length;
      if (refused.length === 0) continue;
      left.unshift(...refused.map(({ id }) => id));
      for (const { answer } of refused)
        t.like(answer, {
          code: 'CONFLICT',
          details: { reason: 'in_flight_limit', limit: LIMIT, retryAfterSeconds: 12 },
        });
      const before = await countOf();
      await company.mine(1);
      blocks += 1;
      t.is((await countOf()) - before, LIMIT, 'a full queue is a full block: there is no gap in it');
      await patiently(
        'inclusions',
        async () =>
          sql<
            { open: number }[]
          >`select count(*)::int as open from flock.withdrawal where status in ('signing', 'broadcast')`,
        ([row]) => row!.open === 0,
      );
    }
    await company.mine(1);
    t.is(sent, WITHDRAWALS);
    t.true(blocks + 1 <= BLOCKS_MAX, `${blocks + 1} blocks`);
    t.is(await countOf(), WITHDRAWALS);
    t.is(BigInt(await anvil.rpc<string>('eth_getBalance', [OUTSIDER, 'latest'])), BigInt(WITHDRAWALS) * 1_000n);
  } finally {
    await company.close();
  }
});
