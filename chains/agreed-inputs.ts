/**
 * What the inputs of one build come to that two endpoints name. One of them alone decides neither whether a payment can
 * land nor what it costs. docs/chains/endpoints.md has the table.
 *
 *   facts     equal, else a contradiction: what is at the destination, whether the funds suffice, the protocol's prices
 *   near      as far apart as honest heads are: heights, times
 *   fee       the market's: the higher one, up to FEE_SPREAD times the lower
 *   counter   nonce, sequence: the lower one, marked, and our own history decides
 */
import type { Refusal } from '../protocol/errors.ts';
import type { BuildInputs, FeeEstimate, Intent } from './chain.ts';

/** How far the highest fees of two endpoints may differ: pools and price oracles of honest nodes do. */
export const FEE_SPREAD = 4n;

export interface Points<Inputs> {
  /** What must be equal, under the name that a refusal shows. JSON-safe. */
  facts(inputs: Inputs): Readonly<Record<string, unknown>>;
  /** Figures and by how much they may differ. */
  near?(inputs: Inputs): Readonly<Record<string, readonly [value: number, by: number]>>;
  /** Highest fee of the payment, smallest native unit; null where the inputs refuse it. */
  feeMax(inputs: Inputs): bigint | null;
}

export interface Compared<Inputs> {
  readonly about: readonly string[];
  /** The inputs whose payment costs more: a payment that pays too little waits for ever. */
  readonly dearer: Inputs;
}

/** The highest fee by a family's own estimate; null where it refuses the inputs. */
export function feeMaxBy<Inputs>(
  estimate: (inputs: Inputs) => FeeEstimate | Refusal,
): (inputs: Inputs) => bigint | null {
  return (inputs) => {
    const fee = estimate(inputs);
    return 'ok' in fee ? null : fee.feeMax;
  };
}

/** Compares what two endpoints name. */
export function compareInputs<Inputs extends BuildInputs>(
  a: Inputs,
  b: Inputs,
  { facts, near, feeMax }: Points<Inputs>,
): Compared<Inputs> {
  const [ours, theirs] = [facts(a), facts(b)],
    [mine, other] = [near?.(a) ?? {}, near?.(b) ?? {}];
  const about = Object.keys(ours).filter((name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]));
  about.push(...Object.keys(mine).filter((name) => Math.abs(mine[name]![0] - other[name]![0]) > mine[name]![1]));
  const [feeA, feeB] = [feeMax(a), feeMax(b)];
  const [low, high] = (feeA ?? 0n) < (feeB ?? 0n) ? [feeA, feeB] : [feeB, feeA];
  if ((low === null) !== (high === null) || (low !== null && high! > low * FEE_SPREAD)) about.push('fee');
  return { about, dearer: high === feeA ? a : b };
}

export interface Funds {
  readonly asset: bigint;
  readonly native: bigint;
  readonly feeMax: bigint | null;
}

/** What the funds of a sender are to an intent: exact where all of them leave, else whether they suffice. */
export function fundsOf(
  { amount, token }: Pick<Intent, 'amount' | 'token'>,
  { asset, native, feeMax }: Funds,
): Readonly<Record<string, unknown>> {
  const fee = feeMax ?? 0n;
  if (amount === 'all') return { balance: asset.toString(), ...(token === null ? {} : { feeBalance: native >= fee }) };
  return { balance: asset >= amount, feeBalance: native >= (token === null ? amount : 0n) + fee };
}

/** The lower of two counters, and a mark where they differ. */
export function lowerCounter<Value extends number | bigint>(
  a: Value,
  b: Value,
): { readonly value: Value; readonly mark: Pick<BuildInputs, 'counter'> } {
  return { value: a < b ? a : b, mark: a === b ? {} : { counter: 'disputed' } };
}
