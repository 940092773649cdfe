/** An address that somebody uses as a hot wallet, on a real node: no person looks at it, and some builds are only previews. */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently } from '../support/company.ts';

const OUTSIDER = '0x000000000000000000000000000000000000bEEF';
const WITHDRAWALS = 200, BLOCKS_MAX = 30, PREVIEW_EACH = 5;

test('found F43: 200 withdrawals from one address land in 30 blocks without a person, whatever is built and never broadcast', async (t) => {
  t.timeout(600_000);
  const company = await openCompany();
  try {
    const { anvil, client, receiver, sql } = company;
    const address = await patiently('address', () => client.call('createAddress', { body: { chain: 'eth', userRef: 'hot' } }));
    if (isRefusal(address)) throw new Error(address.code);
    await company.pay(address.address, 10n ** 18n);
    await company.mine(1 + CONFIRMATIONS);
    await receiver.next(({ event }) => event === 'deposit_confirmed');
    const build = (key: string) => client.call('buildTransaction', {
      body: { chain: 'eth', from: address.address, to: OUTSIDER, amount: '1000', paymentRef: key }, idempotencyKey: key,
    });
    const countOf = async () => Number(await anvil.rpc('eth_getTransactionCount', [address.address, 'latest']));
    let blocks = 0;
    for (let sent = 0; sent < WITHDRAWALS;) {
      if (sent % PREVIEW_EACH === 0) await build(`preview-${sent}`); // never broadcast
      const built = await build(`send-${sent}`);
      if (!isRefusal(built)) {
        const answer = await patiently('broadcast', () => client.call('broadcastTransaction', { params: { id: built.id } }));
        t.like(answer, { status: 'broadcast', versions: [{ at: 'node' }] });
        sent += 1;
        continue;
      }
      t.like(built, { code: 'CONFLICT', details: { reason: 'in_flight_limit', limit: 16, retryAfterSeconds: 12 } });
      const before = await countOf();
      await company.mine(1);
      blocks += 1;
      t.is(await countOf() - before, 16, 'a full queue is a full block: there is no gap in it');
      await patiently('inclusions', async () => sql<{ open: number }[]>`select count(*)::int as open from flock.withdrawal where status = 'broadcast'`,
        ([row]) => row!.open === 0);
    }
    await build('the last preview');
    await company.mine(1);
    t.true(blocks + 1 <= BLOCKS_MAX, `${blocks + 1} blocks`);
    t.is(await countOf(), WITHDRAWALS);
    t.is(BigInt(await anvil.rpc<string>('eth_getBalance', [OUTSIDER, 'latest'])), BigInt(WITHDRAWALS) * 1_000n);
  } finally {
    await company.close();
  }
});
