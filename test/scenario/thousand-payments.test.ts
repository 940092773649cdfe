/** 1,000 payments to 1,000 addresses on a real node, random reorgs, a cloud that is killed ten times. Seeded. */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently, type Company } from '../support/company.ts';
import { problemsOfBooks, type Paid } from '../support/books.ts';

const SEED = Number(process.env.FLOCK_SEED ?? 20_261_127);
const PAYMENTS = 1_000;
const KILLS = 10;
const PER_BLOCK = 20;
const ADDRESSES_AT_ONCE = 32;

/** mulberry32: small, seeded, good enough to choose blocks. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function issueAddresses({ client }: Company, count: number): Promise<string[]> {
  const issued: string[] = [];
  for (let n = 0; n < count; n += ADDRESSES_AT_ONCE) {
    const batch = Array.from({ length: Math.min(ADDRESSES_AT_ONCE, count - n) }, (_, k) => patiently('address', () =>
      client.call('createAddress', { body: { chain: 'eth', userRef: `payer-${n + k}` }, idempotencyKey: `payer-${n + k}` })));
    for (const address of await Promise.all(batch)) {
      if (!isRefusal(address)) issued.push(address.address);
    }
  }
  return issued;
}

/** Replaces the newest blocks; their transactions go back to the pool or vanish, as the model is told by the node. */
async function reorg(company: Company, depth: number): Promise<void> {
  await company.anvil.rpc('anvil_reorg', [depth, []]);
  await company.mine(1);
}

test(`each of ${PAYMENTS} payments is credited exactly once under reorgs and kills (seed ${SEED})`, async (t) => {
  t.timeout(400_000);
  const random = seeded(SEED);
  const company = await openCompany();
  try {
    const addresses = await issueAddresses(company, PAYMENTS);
    t.is(new Set(addresses).size, PAYMENTS);
    const killAt = new Set<number>();
    while (killAt.size < KILLS) killAt.add(1 + Math.floor(random() * (PAYMENTS / PER_BLOCK - 2)));
    const sent = new Map<string, { address: string; amount: bigint }>();
    let restarting: Promise<unknown> = Promise.resolve();
    for (let block = 0; block * PER_BLOCK < PAYMENTS; block += 1) {
      for (let k = 0; k < PER_BLOCK; k += 1) {
        const n = block * PER_BLOCK + k;
        const amount = 1_000_000n + BigInt(n);
        sent.set(await company.pay(addresses[n]!, amount), { address: addresses[n]!, amount });
      }
      await company.mine(1);
      if (random() < 0.2) await reorg(company, 1 + Math.floor(random() * (CONFIRMATIONS + 2)));
      if (killAt.has(block)) {
        await restarting;
        company.deployment.cloud.kill('SIGKILL');
        restarting = company.deployment.cloud.exited.then(() => company.deployment.restartCloud());
      }
    }
    await restarting;
    await company.mine(CONFIRMATIONS + 1);
    // What the chain itself says in the end decides which payments there are.
    const paid = new Map<string, Paid>();
    for (const [txid, payment] of sent) {
      const receipt = await company.anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
      paid.set(txid, { ...payment, survives: receipt?.status === '0x1' });
    }
    const survivors = [...paid.values()].filter(({ survives }) => survives).length;
    t.true(survivors > PAYMENTS / 2, `${survivors} payments are on the chain`);
    const problems = await patiently('books', () => problemsOfBooks({ ...company, paid }), (found) => found.length === 0)
      .catch(() => problemsOfBooks({ ...company, paid }));
    t.deepEqual(problems.slice(0, 20), []);
    t.log(`${survivors} of ${PAYMENTS} payments on the chain, ${company.receiver.received.length} deliveries, ${KILLS} kills`);
  } finally {
    await company.close();
  }
});
