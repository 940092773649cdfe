/**
 * Payments of links over seven chains in a sandbox, under reorgs and kills of the cloud: each is confirmed once, and
 * what links say they raised is what is on their chains. `FLOCK_PAYMENTS=1000 FLOCK_KILLS=10 FLOCK_REORGS=20` tells
 * the whole of payments B6.
 */
import test from 'ava';
import { openDatabase } from '../../persistence/postgres/sql.ts';
import { CHECKOUT_CHAINS, type CheckoutChain } from '../../protocol/slugs.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';
import { seeded } from '../support/seeded.ts';

const SEED = Number(process.env.FLOCK_SEED ?? 20_261_201);
const PAYMENTS = Number(process.env.FLOCK_PAYMENTS ?? 105);
const KILLS = Number(process.env.FLOCK_KILLS ?? 3);
const REORGS = Number(process.env.FLOCK_REORGS ?? 6);
/** Between two of which a reorg or a kill may come. */
const AT_ONCE = 15;
/** Deepest threshold of the seven chains, and more. */
const BLOCKS = 140;

interface Sent {
  readonly chain: CheckoutChain;
  readonly linkId: string;
  readonly address: string;
  readonly amount: bigint;
  txid: string;
}
/** Whole coins: amounts of the model are counts of the smallest part that the test uses, a ten-thousandth. */
const PARTS = 10_000n;
const textOf = (amount: bigint): string => `${amount / PARTS}.${String(amount % PARTS).padStart(4, '0')}`;
function partsOf(text: string): bigint {
  const [whole, fraction = ''] = text.split('.') as [string, string?];
  if (/[1-9]/.test(fraction.slice(4))) throw new Error(`${text} is no count of parts`);
  return BigInt(whole) * PARTS + BigInt(fraction.slice(0, 4).padEnd(4, '0'));
}

test(`payments B6, M7: ${PAYMENTS} payments of links on seven chains are each confirmed once under ${REORGS} reorgs and ${KILLS} kills, and what links raised is exact (seed ${SEED})`, async (t) => {
  t.timeout(1_200_000);
  const random = seeded(SEED),
    below = (count: number) => Math.floor(random() * count);
  const flock = await openDeveloper();
  const sql = openDatabase({ url: flock.deployment.databaseUrl, connections: 1, name: 'flock-books', role: null });
  try {
    const { atEdge, deployment, receiver } = flock;
    const accountId = `${deployment.record.organizationId}_sandbox`;
    const endpoint = await atEdge.must('createWebhook', {
      body: { url: receiver.url, events: ['payment_confirmed', 'payment_reversed', 'deposit_confirmed'] },
    });
    receiver.setSecret(endpoint.secret);
    const donations = new Map<CheckoutChain, { id: string; slug: string }>();
    for (const chain of CHECKOUT_CHAINS) {
      const asset = { btc: 'BTC', eth: 'ETH', bsc: 'BNB', polygon: 'POL', avax: 'AVAX', base: 'ETH', tron: 'TRX' }[
        chain
      ];
      const body = { mode: 'donation' as const, chain, asset, thresholdAmount: '20000000' };
      donations.set(chain, await atEdge.must('createPaymentLink', { body }));
    }

    const opened = (slug: string, n: number) =>
      patiently(`payment ${n} is open`, async () => {
        const answer = await fetch(`${deployment.cloudUrl}/v1/checkout/links/${slug}/donate`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: `payer-${n}@example.com` }),
        });
        const { data, error } = (await answer.json()) as { data: { address: string } | null; error: object };
        if (data === null) throw new Error(JSON.stringify(error));
        return data;
      });
    const deposited = ({ chain, address, amount }: Omit<Sent, 'txid'>, key: string) =>
      patiently('a deposit', () =>
        atEdge.call('simulateDeposit', {
          body: { chain, address, amount: textOf(amount), autoConfirm: false },
          idempotencyKey: key,
        }),
      ).then((answer) => ('txid' in answer ? answer.txid : t.fail() ? '' : ''));
    /** What the simulated chains have, whatever anybody says of it. */
    const onChain = async (): Promise<ReadonlySet<string>> => {
      const rows = await sql<{ txid: string }[]>`
        select txid from flock.sandbox_transaction where ledger like ${`%@${accountId}`}`;
      return new Set(rows.map(({ txid }) => txid));
    };

    const sent: Sent[] = [];
    async function pay(n: number): Promise<void> {
      const chain = CHECKOUT_CHAINS[n % CHECKOUT_CHAINS.length]!,
        link = donations.get(chain)!;
      const { address } = await opened(link.slug, n);
      const one = { chain, linkId: link.id, address, amount: PARTS * 100n + BigInt(below(1_000_000)) };
      sent.push({ ...one, txid: await deposited(one, `pay-${n}`) });
    }
    /** What a reorg took is paid again, but for one in ten. */
    async function reorg(n: number): Promise<void> {
      const chain = CHECKOUT_CHAINS[below(CHECKOUT_CHAINS.length)]!;
      // A chain has a block for each payment: no deeper than it is.
      const depth = 1 + below(Math.min(6, sent.filter((one) => one.chain === chain).length));
      await patiently('a reorg', () =>
        atEdge.call('simulateReorg', { body: { chain, depth }, idempotencyKey: `reorg-${n}` }),
      );
      const there = await onChain();
      for (const [at, one] of sent.entries())
        if (!there.has(one.txid) && random() < 0.9) one.txid = await deposited(one, `again-${n}-${at}`);
    }

    const rounds = Math.ceil(PAYMENTS / AT_ONCE);
    const roundsOf = (count: number) => Array.from({ length: count }, () => below(rounds));
    const [kills, reorgs] = [roundsOf(KILLS), roundsOf(REORGS)];
    const countOf = (list: readonly number[], round: number) => list.filter((one) => one === round).length;
    let restarting: Promise<unknown> = Promise.resolve();
    for (let round = 0; round < rounds; round += 1) {
      const first = round * AT_ONCE;
      const paying = Array.from({ length: Math.min(AT_ONCE, PAYMENTS - first) }, (_, k) => pay(first + k));
      for (let kill = countOf(kills, round); kill > 0; kill -= 1) {
        await restarting;
        deployment.cloud.kill('SIGKILL');
        restarting = deployment.cloud.exited.then(() => deployment.restartCloud());
      }
      await Promise.all(paying);
      for (let k = countOf(reorgs, round); k > 0; k -= 1) await reorg(round * REORGS + k);
    }
    await restarting;

    const there = await onChain(),
      standing = sent.filter(({ txid }) => there.has(txid));
    t.true(standing.length > PAYMENTS * 0.8, `${standing.length} are on their chains`);
    for (const chain of CHECKOUT_CHAINS) {
      const last = standing.findLast((one) => one.chain === chain);
      if (last === undefined) continue;
      const body = { chain, txid: last.txid, confirmations: BLOCKS };
      await patiently('confirmed', () => atEdge.call('simulateConfirmation', { body }));
    }
    const sumOf = (list: readonly Sent[]) => list.reduce((sum, { amount }) => sum + amount, 0n);
    const wrong = await patiently(
      'the books are right',
      async () => {
        const problems: string[] = [];
        for (const [chain, { id }] of donations) {
          const of = standing.filter((one) => one.linkId === id);
          const link = await atEdge.must('getPaymentLink', { params: { id } });
          if (partsOf(link.amountRaised) !== sumOf(of) || link.paymentCount !== of.length)
            problems.push(
              `${chain}: ${link.amountRaised} of ${link.paymentCount}, not ${textOf(sumOf(of))} of ${of.length}`,
            );
        }
        const sums = new Map<string, number>();
        for (const { event, data } of new Map(receiver.received.map((one) => [one.id, one])).values()) {
          const of = String(data['paymentId']),
            isTaken = event === 'payment_reversed' && data['reversedFrom'] === 'confirmed';
          const by = event === 'payment_confirmed' ? 1 : isTaken ? -1 : 0;
          if (by !== 0) sums.set(of, (sums.get(of) ?? 0) + by);
        }
        const rows = await sql<{ id: string; status: string }[]>`
          select id, status from flock.payment where account_id = ${accountId}`;
        for (const { id, status } of rows) {
          const wanted = status === 'confirmed' ? 1 : 0;
          if ((sums.get(id) ?? 0) !== wanted) problems.push(`${id} ${status} was confirmed ${sums.get(id) ?? 0} times`);
        }
        return problems;
      },
      (problems) => problems.length === 0,
    ).catch((error: unknown) => [String(error)]);
    t.deepEqual(wrong, []);
    t.log(`${standing.length} of ${PAYMENTS} on their chains, ${receiver.received.length} deliveries`);
  } finally {
    await sql.end({ timeout: 5 });
    await flock.close();
  }
});
