/**
 * `flock seed`: fills a sandbox with customers and what they paid over some days. The same numbers make the same
 * addresses, amounts and order each time. X78.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { formatAmount } from '../../protocol/money.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import type { Flock } from '../typescript/src/index.ts';
import { answer, CommandFailed, note, running, type Exit } from './answer.ts';
import { clockTo } from './clock.ts';
import { sessionOf } from './session.ts';

const DAY_MS = 86_400_000;
/** Chains whose addresses need no edge that derives them in advance; amounts are up to so many millionths of a coin. */
const CHAINS = [
  { chain: 'btc', most: 50_000 },
  { chain: 'eth', most: 1_000_000 },
  { chain: 'polygon', most: 500_000_000 },
  { chain: 'base', most: 1_000_000 },
  { chain: 'tron', most: 2_000_000_000 },
] as const;
/** Digits behind the point of an amount: each of these chains has as many. */
const DIGITS = 6;
/** One deposit in so many is followed by another one of the same customer. */
const AGAIN = 4;

type Chain = Parameters<Flock['simulateDeposit']>[0]['chain'];
interface Customer {
  readonly userRef: string;
  readonly chain: Chain;
  readonly most: number;
}
interface Payment {
  readonly customer: number;
  readonly amount: string;
}

/** The same seed draws the same numbers, one with each call: 0 ≤ n < 1. */
function numbersOf(seed: number): () => number {
  let drawn = 0;
  return () =>
    createHash('sha256')
      .update(`${seed}.${(drawn += 1)}`)
      .digest()
      .readUInt32BE(0) /
    2 ** 32;
}

/** Who there is, and what is paid on which day, in order. Pure. */
export function planOf(addresses: number, days: number, seed: number): { customers: Customer[]; paid: Payment[][] } {
  const next = numbersOf(seed);
  const customers = Array.from({ length: addresses }, (_, n): Customer => ({
    userRef: `customer-${String(n + 1).padStart(6, '0')}`,
    ...CHAINS[Math.floor(next() * CHAINS.length)]!,
  }));
  const paid: Payment[][] = Array.from({ length: days }, () => []);
  for (const [customer, { most }] of customers.entries())
    for (let more = 1; more > 0; more = next() * AGAIN < 1 ? 1 : 0) {
      const amount = formatAmount(1n + BigInt(Math.floor(next() * most)), DIGITS);
      paid[Math.floor(next() * days)]!.push({ customer, amount });
    }
  return { customers, paid };
}

export function seed(args: readonly string[], flags: Flags): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      addresses: { type: 'string', default: '100' },
      days: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      reset: { type: 'boolean', default: false },
    },
  });
  return running(flags, async (run): Promise<Exit | void> => {
    const [addresses, days, number] = [
      numberOf('addresses', values.addresses, 1, 100_000),
      numberOf('days', values.days, 1, 400),
      numberOf('seed', values.seed, 0, 999_999_999),
    ];
    const { flock, environment, isEdge } = sessionOf(flags, run);
    if (environment === 'live' || isEdge)
      throw new CommandFailed('SANDBOX_ONLY', 'a sandbox is filled: use a profile of the cloud with its key');
    if (values.reset) await flock.resetSandbox();
    else if ((await flock.listAddresses({ size: 1 })).content.length > 0)
      throw new CommandFailed(
        'NOT_EMPTY',
        'the sandbox has addresses, so that others would be made: --reset forgets what it has',
      );
    const { customers, paid } = planOf(addresses, days, number);
    const made: string[] = [];
    for (const { userRef, chain } of customers) made.push((await flock.createAddress({ chain, userRef })).address);
    const digest = createHash('sha256');
    let deposits = 0;
    for (const [day, payments] of paid.entries()) {
      for (const { customer, amount } of payments) {
        const { chain, userRef } = customers[customer]!,
          address = made[customer]!;
        await flock.simulateDeposit({ chain, address, amount, autoConfirm: true });
        digest.update(`${day} ${userRef} ${chain} ${address} ${amount}\n`);
        deposits += 1;
      }
      await clockTo(flock, Date.parse((await flock.getSandboxClock()).now) + DAY_MS);
      note(flags, `day ${day + 1} of ${days}: ${payments.length} deposits`);
    }
    const sha256 = digest.digest('hex');
    answer(
      flags,
      { addresses, days, seed: number, deposits, sha256 },
      `${addresses} addresses, ${deposits} deposits in ${days} days; sha256 of them ${sha256}`,
    );
  });
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw new CommandFailed('USAGE', `--${name} is a whole number from ${least} to ${most.toLocaleString('en')}`);
}
