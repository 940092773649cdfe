/** What one ledger of the soak plays: payments, blocks, reorgs and ill peers, all chosen by its seed. */
import { between, ILLS, oneOf, type Random, type SoakChain } from './soak-chain.ts';

export interface Payment {
  readonly chain: SoakChain['chain'];
  readonly address: string;
  readonly amount: bigint;
}

/** What is recorded of a payment, as the books have it. */
export type Recorded = 'nothing' | 'detected' | 'confirmed' | 'reversed';

export interface PlayParts {
  readonly addresses: readonly string[];
  readonly random: Random;
  readonly steps: number;
  /** Ends the play before its steps are over. */
  readonly isOver?: () => boolean;
  /** Height that the watcher of the chain has recorded. */
  cursorHeight(): Promise<number>;
  /** True as soon as what is recorded of each of these payments is one of these; false after a time. */
  recorded(txids: readonly string[], wanted: readonly Recorded[], withinMs: number): Promise<boolean>;
  /** Told after each step. */
  onStep(): void;
}

/** A watcher with ill peers may not get there: the play goes on, for the seed alone decides what is played. */
const SEEN_MS = 3_000;
/** What a healthy chain is told within, on a slow machine. */
const TOLD_MS = 90_000;
/** Blocks within which a payment is confirmed: threshold, finality, and what a slow machine is late. */
const ABOVE_MAX = 40;
const LOOK_MS = 60;
const LOST_SHARE = 0.1;

/** Plays on one ledger; everything that was ever paid there, by txid. */
export async function play(chain: SoakChain, parts: PlayParts): Promise<Map<string, Payment>> {
  const { random, steps, addresses } = parts,
    paid = new Map<string, Payment>();
  /** Payments that come back from every reorg. */
  const spared = new Set<string>();
  const pay = async (): Promise<string> => {
    const address = oneOf(random, addresses),
      amount = chain.unit + BigInt(paid.size);
    const txid = await chain.pay(address, amount);
    paid.set(txid, { chain: chain.chain, address, amount });
    return txid;
  };
  const seen = async (): Promise<void> => {
    const height = await chain.headHeight(),
      deadline = performance.now() + SEEN_MS;
    while ((await parts.cursorHeight()) < height && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  };
  for (let step = 0; step < steps && parts.isOver?.() !== true; step += 1) {
    await chain.heal();
    const choice = random();
    if (choice < 0.1)
      for (let peer = 0; peer < chain.peers; peer += 1)
        await chain.makeIll(peer, oneOf(random, ['dead', 'limits'] as const), random);
    else if (choice < 0.85) await chain.makeIll(between(random, 0, chain.peers - 1), oneOf(random, ILLS), random);
    for (let left = between(random, 1, 3); left > 0; left -= 1) await pay();
    await chain.mine(1);
    await seen();
    if (chain.reorgMax > 0 && random() < 0.35) {
      await chain.reorg(between(random, 1, chain.reorgMax), (txid) => spared.has(txid) || random() >= LOST_SHARE);
      await chain.mine(between(random, 1, 3));
      await seen();
    } else await chain.mine(between(random, 0, 2));
    if (step === Math.floor(steps / 3) && chain.reorgMax > 0) spared.add(await reverse(chain, parts, pay));
    parts.onStep();
  }
  await chain.heal();
  return paid;
}

/**
 * Two payments that are seen to be recorded before a reorg takes their blocks: one comes back, the other never. Where a
 * reorg can be deeper than the threshold, both were credited by then. The txid of the one that came back.
 */
async function reverse(chain: SoakChain, parts: PlayParts, pay: () => Promise<string>): Promise<string> {
  await chain.heal();
  const stays = await pay(),
    goes = await pay(),
    both = [stays, goes];
  await chain.mine(1);
  if (!(await parts.recorded(both, ['detected', 'confirmed'], TOLD_MS)))
    throw new Error(`${chain.chain}: ${both.join(', ')} are not detected`);
  let above = 0;
  if (chain.threshold < chain.reorgMax) {
    // Finality trails the head: blocks go on until it is there.
    do {
      await chain.mine(1);
      above += 1;
      if (above > ABOVE_MAX)
        throw new Error(`${chain.chain}: ${both.join(', ')} are not confirmed after ${above} blocks`);
    } while (!(await parts.recorded(both, ['confirmed'], above < chain.threshold ? 0 : SEEN_MS)));
  }
  await chain.reorg(above + 1, (txid) => txid !== goes);
  if (!(await parts.recorded(both, ['reversed'], TOLD_MS)))
    throw new Error(`${chain.chain}: ${both.join(', ')} are not reversed`);
  await chain.mine(2);
  return stays;
}
