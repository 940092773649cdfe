/**
 * An application that sends money from its hot addresses all the time, asks again with the same key, and pays nothing
 * twice.
 */
import { isRefusal } from '../../../protocol/errors.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { patiently } from '../company.ts';
import { between, type Random, type SoakChain } from '../soak/soak-chain.ts';
import type { TenChains } from '../soak/ten-chains.ts';

export interface HotAddress {
  readonly address: string;
  readonly outsider: string;
  readonly amount: bigint;
  readonly funding: bigint;
}

/** An address that nobody of this Flock has, and amounts that pay for their fees, by family. */
export const HOT: Readonly<Partial<Record<Chain, Omit<HotAddress, 'address'>>>> = {
  btc: { outsider: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', amount: 200_000n, funding: 300_000_000n },
  eth: { outsider: '0x000000000000000000000000000000000000bee1', amount: 10n ** 16n, funding: 10n ** 20n },
  bsc: { outsider: '0x000000000000000000000000000000000000bee2', amount: 10n ** 16n, funding: 10n ** 20n },
  avax: { outsider: '0x000000000000000000000000000000000000bee3', amount: 10n ** 16n, funding: 10n ** 20n },
};

export interface Sent {
  readonly id: string;
  readonly chain: Chain;
  readonly amount: bigint;
}

const ASK_AGAIN_MS = 300;

/**
 * Sends until `isOver`; what was asked to be broadcast, each once. Refusals of builds are counted by chain and code.
 */
export async function sendAllTheTime(
  flock: TenChains,
  chain: SoakChain,
  hot: HotAddress,
  random: Random,
  isOver: () => boolean,
  refusals: Map<string, number>,
): Promise<Sent[]> {
  const { client } = flock,
    sent: Sent[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const amount = hot.amount + BigInt(n);
    const built = await client.call('buildTransaction', {
      body: { chain: chain.chain, from: hot.address, to: hot.outsider, amount: String(amount) },
      idempotencyKey: `${chain.chain}-out-${n}`,
    });
    if (isRefusal(built)) {
      const why =
        `${chain.chain} ${built.code} ${String((built.details as { reason?: unknown }).reason ?? '')}`.trimEnd();
      refusals.set(why, (refusals.get(why) ?? 0) + 1);
      n -= 1; // the same again, under the same key
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      continue;
    }
    sent.push({ id: built.id, chain: chain.chain, amount });
    await patiently('broadcast', () => client.call('broadcastTransaction', { params: { id: built.id } })).catch(
      () => undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, between(random, 100, 1_500)));
  }
  return sent;
}

/** Everything that is wrong with what was sent, as sentences: the ledger, the API and each withdrawal's end agree. */
export async function problemsOfSent(
  flock: TenChains,
  sent: readonly Sent[],
  before: ReadonlyMap<Chain, bigint>,
): Promise<string[]> {
  const problems: string[] = [];
  const paid = new Map<Chain, bigint>();
  for (const { id, chain, amount } of sent) {
    const row = await flock.client.call('getTransaction', { params: { id } });
    if (isRefusal(row)) {
      problems.push(`${id}: ${row.code}`);
      continue;
    }
    if (row.status === 'confirmed') {
      paid.set(chain, (paid.get(chain) ?? 0n) + amount);
      if (
        row.txid === null ||
        !(await flock.chains
          .get(chain)!
          .stands(row.txid)
          .catch(() => true))
      )
        problems.push(`${id} is confirmed and ${row.txid} is not on ${chain}`);
      if (row.fee === null) problems.push(`${id} is confirmed without its fee`);
    } else if (!['failed', 'built', 'expired'].includes(row.status))
      problems.push(`${id} on ${chain} is still ${row.status}`);
  }
  for (const [chain, ledger] of flock.chains) {
    if (HOT[chain] === undefined || ledger.balanceOf === undefined) continue;
    const got = (await ledger.balanceOf(HOT[chain].outsider)) - (before.get(chain) ?? 0n);
    if (got !== (paid.get(chain) ?? 0n))
      problems.push(`${chain}: ${got} arrived, confirmed withdrawals sum to ${paid.get(chain) ?? 0n}`);
  }
  return problems;
}
