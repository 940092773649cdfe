/**
 * What a cycle of a policy would do now, address by address: read from the store and the chain, decided by choice.ts.
 * Planning and preview differ only in which addresses they look at. Treasury S9, S12, Y1.
 */
import type { ChainBinding, ChainAccess } from '../../model/ports/chain-access.ts';
import type { Intent } from '../../chains/chain.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { PlannedOperation, SweepSettings } from '../../model/account/sweep.ts';
import type { SweepCandidate, SweepStore } from '../../model/ports/sweep-store.ts';
import type { SweepJobRow } from '../../model/rows/sweep.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { counterKey } from '../outgoing/counters.ts';
import { watchOnly } from '../key-source/decide.ts';
import { derivedAt, placed, tankOf, type Tank } from '../treasury/view.ts';
import { choose, type Choice } from './choice.ts';
import { isOperated } from './firing.ts';
import { costInAsset } from './rates.ts';

/** Addresses whose balances are asked for at the same time. */
const ASKED_AT_ONCE = 8;

export interface PlanSettings extends Omit<
  SweepSettings,
  'enabled' | 'triggerMode' | 'scheduleCron' | 'scheduleTimeZone' | 'pauseOnConsecutiveFailures' | 'treasuryWalletId'
> {
  /** Null in a preview that names none: the derived one. */
  readonly treasuryWalletId: string | null;
}

export interface PlanParts {
  readonly chains: Pick<ChainAccess, 'bind'>;
  readonly sweeps: Pick<SweepStore, 'candidates'>;
}

/** Prices of one sample, smallest native unit. Treasury S30. */
export interface Prices {
  /** Highest fee of the sweep itself, and of the funding before it. */
  readonly sweep: bigint;
  readonly fund: bigint;
}

export interface PlannedAddress extends Choice {
  readonly candidate: SweepCandidate;
  readonly cost: bigint;
  readonly costInAsset: bigint | null;
  /** What the tank sends; zero where nothing is needed. */
  readonly funding: bigint;
  /** There and not credited: it stays. */
  readonly uncredited: bigint;
}

export interface Plan {
  readonly binding: ChainBinding;
  readonly treasury: { readonly address: string; readonly path: string | null; readonly tag: string | null };
  readonly tank: Tank | null;
  /** Of the tank, smallest native unit; null where none is needed. */
  readonly available: bigint | null;
  readonly prices: Prices | null;
  readonly addresses: readonly PlannedAddress[];
}

/** Null, or why this version plans nothing on a chain. Refuses: CONFLICT `btc_sweeps_off`, `not_operated`. */
export function notOperated(chain: Chain): Refusal | null {
  if (isOperated({ chain })) return null;
  return refuse(
    'CONFLICT',
    { reason: chain === 'btc' ? 'btc_sweeps_off' : 'not_operated', chain },
    `this version sweeps the EVM networks; policies of ${chain} are kept and never fire`,
  );
}

/**
 * Refuses: CONFLICT (a chain that is not swept), NOT_FOUND (the treasury), CHAIN_NOT_READY, CHAIN_UNAVAILABLE. Throws:
 * ChainUnavailable: no number is given then.
 */
export async function planOf(
  { chains, sweeps }: PlanParts,
  state: AccountState,
  settings: PlanSettings,
  trigger: SweepJobRow['trigger'],
  page: { readonly floor: bigint; readonly from: number; readonly most: number },
): Promise<Plan | Refusal> {
  const { chain, token } = settings,
    no = notOperated(chain);
  if (no !== null) return no;
  const home = homeOf(state, settings),
    tank = tankOf(state, chain);
  const { treasuryWalletId: named } = settings;
  if (home === null && named !== null) return refuse('NOT_FOUND', { what: 'treasury wallet', id: named });
  if (home === null) return refuse('CHAIN_NOT_READY', { chain });
  if (home.address === null || tank === null) return refuse('CHAIN_NOT_READY', { chain });
  const binding = await chains.bind(state.accountId, chain);
  if (isRefusal(binding)) return binding;
  const treasury = { address: home.address, path: home.derivationPath, tag: home.tag };
  const found = await sweeps.candidates(state.accountId, { chain, token }, page.floor, page.from, page.most);
  const [first] = found;
  if (first === undefined) return { binding, treasury, tank, available: null, prices: null, addresses: [] };
  const intents = intentsOf(binding, settings, treasury.address, tank, first);
  const prices = await pricesOf(binding, intents);
  if (isRefusal(prices)) return prices;
  const available = token === null ? null : (await binding.client.fetchBalance(tank.address, null)).available;
  const addresses: PlannedAddress[] = [];
  let promised = 0n;
  for (let at = 0; at < found.length; at += ASKED_AT_ONCE) {
    const some = found.slice(at, at + ASKED_AT_ONCE);
    const held = await Promise.all(some.map(async ({ address }) => balancesOf(binding, address, token)));
    some.forEach((candidate, index) => {
      const left = available === null ? null : available - promised;
      const planned = plannedOf({ binding, state, settings, trigger, prices, left }, candidate, held[index]!);
      if (planned.reason === null) promised += planned.funding === 0n ? 0n : planned.funding + prices.fund;
      addresses.push(planned);
    });
  }
  return { binding, treasury, tank, available, prices, addresses };
}

/** What a plan comes to, with the ids of all that it may build. Treasury S17. */
export const operationsOf = ({ addresses }: Plan, nowMs: number): PlannedOperation[] =>
  addresses.map(({ candidate: { address }, amount, cost, reason }) => ({
    id: newId('swo', nowMs),
    address,
    amount,
    estimate: cost,
    reason,
    fundId: newId('txn', nowMs),
    sweepId: newId('txn', nowMs),
  }));

function homeOf(state: AccountState, { chain, treasuryWalletId }: PlanSettings) {
  const wallet = state.treasuryWallets.find((one) =>
    treasuryWalletId === null ? one.chain === chain && one.source === 'derived' : one.id === treasuryWalletId,
  );
  if (wallet !== undefined) return placed(state, wallet);
  const own = treasuryWalletId === null ? derivedAt(state, chain) : null;
  return own === null ? null : { address: own.address, derivationPath: own.path, tag: null };
}

interface Around {
  readonly binding: ChainBinding;
  readonly state: AccountState;
  readonly settings: PlanSettings;
  readonly trigger: SweepJobRow['trigger'];
  readonly prices: Prices;
  /** What the tank has left for this address; null where it pays nothing. */
  readonly left: bigint | null;
}

interface Held {
  readonly asset: bigint;
  readonly reserved: bigint;
  readonly native: bigint;
}

function plannedOf(
  { binding: { network, catalogue }, state, settings, trigger, prices, left }: Around,
  candidate: SweepCandidate,
  held: Held,
): PlannedAddress {
  const { chain, token, retainGasFloat } = settings,
    { address, path, credited, openOperationId } = candidate;
  const funding = token === null || held.native >= prices.sweep ? 0n : prices.sweep - held.native,
    paid = prices.sweep + (funding === 0n ? 0n : prices.fund);
  const inAsset = costInAsset(paid, network, state.environment, token === null ? null : catalogue.get(token)!.decimals);
  const choice = choose(settings, trigger, {
    balance: held.asset,
    credited,
    reserve: held.reserved + (token === null ? prices.sweep * BigInt(1 + retainGasFloat) : 0n),
    cost: paid,
    costInAsset: inAsset,
    isObserved: candidate.isObserved,
    isWatchOnly: watchOnly(state, chain, path) !== null,
    hasWithdrawal: Object.keys(state.counters[counterKey(chain, address)]?.inFlight ?? {}).length > 0,
    hasSweep: openOperationId !== null,
    isFunded: left === null || funding === 0n || left >= funding + prices.fund,
  });
  const uncredited = held.asset > credited ? held.asset - credited : 0n;
  return { candidate, ...choice, cost: paid, costInAsset: inAsset, funding, uncredited };
}

interface Intents {
  readonly sweep: Intent;
  /** Null for the native coin: it pays for itself. */
  readonly fund: Intent | null;
}

function intentsOf(
  { catalogue }: ChainBinding,
  { chain, token }: PlanSettings,
  to: string,
  tank: Tank,
  { address, path }: SweepCandidate,
): Intents {
  const native = { chain, amount: 1n, token: null, tag: null };
  const sweep = { ...native, from: address, fromPath: path, to };
  return {
    sweep: token === null ? sweep : { ...sweep, token: catalogue.get(token)! },
    fund: token === null ? null : { ...native, from: tank.address, fromPath: tank.path, to: address },
  };
}

async function pricesOf(
  { module, network, client }: ChainBinding,
  { sweep, fund }: Intents,
): Promise<Prices | Refusal> {
  const feeOf = async (intent: Intent) => module.estimateFee(network, await client.fetchBuildInputs(intent), intent);
  const [ofSweep, ofFund] = await Promise.all([feeOf(sweep), fund === null ? null : feeOf(fund)]);
  if (isRefusal(ofSweep)) return ofSweep;
  if (ofFund !== null && isRefusal(ofFund)) return ofFund;
  return { sweep: ofSweep.feeMax, fund: ofFund?.feeMax ?? 0n };
}

async function balancesOf({ client, catalogue }: ChainBinding, address: string, token: string | null): Promise<Held> {
  const native = await client.fetchBalance(address, null);
  if (token === null) return { asset: native.amount, reserved: native.reserved, native: native.available };
  const held = await client.fetchBalance(address, catalogue.get(token)!);
  return { asset: held.amount, reserved: held.reserved, native: native.available };
}
