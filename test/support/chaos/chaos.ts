/**
 * The chaos run: three real EVM nodes and a real Core-family node, reorgs, lying, lagging, limiting and dead endpoints,
 * processes that are killed and frozen, a database that crashes, wrong clocks; payments in and withdrawals out all the
 * time. In the end ledgers, API, books and webhooks agree.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chain } from '../../../protocol/slugs.ts';
import { problemsOfBooks, type Paid } from '../books.ts';
import { patiently } from '../company.ts';
import { seeded } from '../seeded.ts';
import { openEvm } from '../soak/evm.ts';
import { openLitecoin } from '../soak/litecoin.ts';
import { play, type Payment } from '../soak/play.ts';
import { openTenChains, type TenChains } from '../soak/ten-chains.ts';
import { createSabotage, steppedClock } from './sabotage.ts';
import { HOT, problemsOfSent, sendAllTheTime, type Sent } from './withdrawals.ts';

export const LEDGERS = ['btc', 'eth', 'bsc', 'avax'] as const satisfies readonly Chain[];
const ADDRESSES = 6;
const SETTLE_EVERY_MS = 500;
const BURIED_BLOCKS = 12;

export interface ChaosReport {
  readonly problems: readonly string[];
  readonly payments: number;
  readonly withdrawals: number;
  readonly deliveries: number;
  /** What was done to the processes, how often. */
  readonly sabotage: ReadonlyMap<string, number>;
  /** Builds that were refused, by chain and code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Coverage of each chain and the last lines of the cloud's log, when something is wrong. */
  readonly traces: readonly string[];
}

/** Plays for so many seconds. The seed chooses what is played; how far it comes is the machine's speed. */
export async function runChaos({ seed, seconds }: { seed: number; seconds: number }): Promise<ChaosReport> {
  const directory = mkdtempSync(join(tmpdir(), 'flock-chaos-'));
  const clocks = { cloud: steppedClock(directory, 'cloud'), edge: steppedClock(directory, 'edge') };
  const flock = await openTenChains({
    ledgers: new Map(LEDGERS.map((slug) => [slug, slug === 'btc' ? openLitecoin : () => openEvm(slug)])),
    cloudEnv: clocks.cloud.env,
    edgeEnv: clocks.edge.env,
    ownServer: true,
  });
  try {
    const addresses = new Map<Chain, string[]>();
    for (const slug of LEDGERS) addresses.set(slug, await flock.issue(slug, ADDRESSES));
    const funded = await fund(flock, addresses);
    const before = new Map<Chain, bigint>();
    for (const [slug, ledger] of flock.chains) before.set(slug, await ledger.balanceOf!(HOT[slug]!.outsider));
    const deadline = performance.now() + seconds * 1_000;
    const isOver = () => performance.now() > deadline;
    const refusals = new Map<string, number>();
    const playing = Promise.all(
      LEDGERS.map((slug, index) =>
        play(flock.chains.get(slug)!, {
          addresses: addresses.get(slug)!.slice(1),
          random: seeded(seed * 64 + index),
          steps: Infinity,
          isOver,
          onStep: () => undefined,
          cursorHeight: () => flock.cursorHeight(slug).catch(() => -1),
          recorded: flock.recorded,
        }),
      ),
    );
    const sending = Promise.all(
      LEDGERS.map((slug, index) =>
        sendAllTheTime(
          flock,
          flock.chains.get(slug)!,
          { ...HOT[slug]!, address: addresses.get(slug)![0]! },
          seeded(seed * 64 + 16 + index),
          isOver,
          refusals,
        ),
      ),
    );
    const [played, sent, sabotage] = await Promise.all([
      playing,
      sending,
      createSabotage(flock, clocks, seeded(seed * 64 + 32)).run(isOver),
    ]);
    const payments = new Map([...funded, ...played.flatMap((one) => [...one])]);
    const problems = await settle(flock, payments, sent.flat(), before);
    return {
      problems,
      payments: payments.size,
      withdrawals: sent.flat().length,
      deliveries: flock.receiver.received.length,
      sabotage,
      refusals,
      traces: problems.length === 0 ? [] : await flock.standing().catch((error: unknown) => [String(error)]),
    };
  } finally {
    await flock.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The first address of each ledger gets what its withdrawals are paid from. */
async function fund(flock: TenChains, addresses: ReadonlyMap<Chain, string[]>): Promise<Map<string, Payment>> {
  const funded = new Map<string, Payment>();
  for (const [slug, ledger] of flock.chains) {
    const address = addresses.get(slug)![0]!,
      amount = HOT[slug]!.funding;
    funded.set(await ledger.pay(address, amount), { chain: slug, address, amount });
    await ledger.mine(BURIED_BLOCKS);
  }
  if (!(await flock.recorded([...funded.keys()], ['confirmed'], 60_000)))
    throw new Error('the hot addresses were not funded');
  return funded;
}

/** Blocks go on until everything agrees; what does not, when patience ends. */
async function settle(
  flock: TenChains,
  payments: ReadonlyMap<string, Payment>,
  sent: readonly Sent[],
  before: ReadonlyMap<Chain, bigint>,
): Promise<string[]> {
  for (const ledger of flock.chains.values()) await ledger.heal();
  let minedAtMs = -Infinity;
  const problems = async (): Promise<string[]> => {
    if (performance.now() - minedAtMs > SETTLE_EVERY_MS) {
      for (const ledger of flock.chains.values()) await ledger.mine(1);
      minedAtMs = performance.now();
    }
    const paid = new Map<string, Paid>();
    for (const [txid, { chain, address, amount }] of payments) {
      paid.set(txid, { address, amount, survives: await flock.chains.get(chain)!.stands(txid) });
    }
    return [...(await problemsOfBooks({ ...flock, paid })), ...(await problemsOfSent(flock, sent, before))];
  };
  return patiently('books', problems, (found) => found.length === 0).catch(problems);
}
