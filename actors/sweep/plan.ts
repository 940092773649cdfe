/**
 * What a cycle of a policy would do now, address by address: read from the store and the chain, decided by choice.ts.
 * Planning and preview differ only in which addresses they look at. Treasury S9, S12, Y1.
 */
import type { ChainBinding, ChainAccess } from '../../model/ports/chain-access.ts';
import { findDeployment } from '../../chains/catalogue.ts';
import type { Balance, Intent } from '../../chains/chain.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { Blocked, PlannedOperation, SweepPlace, SweepSettings } from '../../model/account/sweep.ts';
import type { RateStore } from '../../model/ports/rate-store.ts';
import type { SweepCandidate, SweepStore } from '../../model/ports/sweep-store.ts';
import type { SweepJobRow } from '../../model/rows/sweep.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { counterKey } from '../outgoing/counters.ts';
import { watchOnly } from '../key-source/decide.ts';
import { derivedAt, placed, tankOf, type Tank } from '../treasury/view.ts';
import { isSweepable } from './asset.ts';
import { choose, type Choice } from './choice.ts';
import { heldFor, NO_PRICES, pricesOf, uncountedActivation, type Intents, type Prices } from './costs.ts';
import { openJobsOn } from './job.ts';
import { lacksToken, roomOf, saidByLeader, shareBlocked, withinRoom, type LeaderParts } from './leader.ts';
import { costInAsset, rateOf, type UsedRate } from './rates.ts';

/** Addresses whose balances are asked for at the same time. */
const ASKED_AT_ONCE = 8;

export interface PlanSettings extends Omit<
  SweepSettings,
  'enabled' | 'triggerMode' | 'scheduleCron' | 'scheduleTimeZone' | 'pauseOnConsecutiveFailures' | 'treasuryWalletId'
> {
  /** Null in a preview that names none: the derived one. */
  readonly treasuryWalletId: string | null;
}

export interface PlanPage {
  readonly floor: bigint;
  readonly from: number;
  /** Addresses of one read, and the most that a cycle takes. */
  readonly most: number;
  /**
   * Of a cycle: how many of the largest are looked at until `most` are taken, so that those which are skipped hide none
   * behind them. Absent: one page, as it is.
   */
  readonly upTo?: number;
  /** Of a cycle: it goes on behind an address. Absent, or null: from the largest on. */
  readonly behind?: SweepPlace | null;
}

export interface PlanParts extends LeaderParts {
  readonly chains: Pick<ChainAccess, 'bind'> & LeaderParts['chains'];
  readonly sweeps: Pick<SweepStore, 'candidates' | 'promised'>;
  readonly rates: Pick<RateStore, 'rate'>;
  readonly nowMs: () => number;
}

/** What a cost is made of, smallest native unit; its sum is the cost. */
export interface CostParts {
  /** Fee of the sweep. */
  readonly sweep: bigint;
  /** Fee of what the tank sends for it. */
  readonly funding: bigint;
  /** An account that the funding makes. */
  readonly activation: bigint;
  /** An account that the sweep makes at the treasury. */
  readonly rent: bigint;
  /** What the chain under this one takes of both. */
  readonly l1: bigint;
}

export interface PlannedAddress extends Omit<Choice, 'reason'> {
  readonly reason: Choice['reason'] | 'edge_window_spent';
  /** What the edge has against it, where that is a setting. */
  readonly blocked?: Blocked;
  readonly candidate: SweepCandidate;
  readonly cost: bigint;
  readonly parts: CostParts;
  readonly costInAsset: bigint | null;
  /** What the tank sends; zero where nothing is needed. */
  readonly funding: bigint;
  /** All that the tank pays: fundings with their fees, or the sweep's own fee. */
  readonly ofTank: bigint;
  /** What the edge counts of it against its spend cap. Treasury E4. */
  readonly counted: bigint;
  /** There and not credited: it stays. */
  readonly uncredited: bigint;
}

export interface Plan {
  readonly binding: ChainBinding;
  readonly treasury: { readonly address: string; readonly path: string | null; readonly tag: string | null };
  readonly tank: Tank | null;
  /** Of the tank, less what it keeps for open operations, smallest native unit; null where none is needed. */
  readonly available: bigint | null;
  /** Open jobs of the chain whose promises are in `available`; null where none is needed. */
  readonly beside: readonly string[] | null;
  readonly prices: Prices | null;
  /** What a native coin is worth in the asset; null where nobody said. */
  readonly rate: UsedRate | null;
  readonly addresses: readonly PlannedAddress[];
  /** Where the next cycle goes on; null: from the largest on. */
  readonly lookedTo: SweepPlace | null;
}

/**
 * Refuses: NOT_FOUND (the treasury), CHAIN_NOT_READY, CHAIN_UNAVAILABLE. Throws: ChainUnavailable: no number is given
 * then.
 */
export async function planOf(
  parts: PlanParts,
  state: AccountState,
  settings: PlanSettings,
  trigger: SweepJobRow['trigger'],
  page: PlanPage,
): Promise<Plan | Refusal> {
  const { chains, sweeps, rates, nowMs } = parts,
    { chain, token } = settings;
  const home = homeOf(state, settings),
    tank = tankOf(state, chain);
  const { treasuryWalletId: named } = settings;
  if (home === null && named !== null) return refuse('NOT_FOUND', { what: 'treasury wallet', id: named });
  if (home === null) return refuse('CHAIN_NOT_READY', { chain });
  if (home.address === null || tank === null) return refuse('CHAIN_NOT_READY', { chain });
  const binding = await chains.bind(state.accountId, chain);
  if (isRefusal(binding)) return binding;
  const treasury = { address: home.address, path: home.derivationPath, tag: home.tag };
  const { behind = null, from: begin, upTo = 0 } = page;
  const read = (from: number | SweepPlace) =>
    sweeps.candidates(state.accountId, { chain, token }, page.floor, from, page.most);
  const [found, isFromTop] = await firstOf(read, begin, behind);
  const [first] = found;
  const { accountId, environment } = state,
    deployment = token === null ? null : (binding.catalogue.get(token) ?? null),
    isOff = token !== null && (deployment === null || !mayBeSwept(parts, chain, token)),
    rate = isOff ? null : await rateOf(rates, binding.network, environment, deployment, nowMs());
  const none = { available: null, beside: null, prices: null, addresses: [], lookedTo: null };
  const nothing = { binding, treasury, tank, rate, ...none };
  if (first === undefined) return nothing;
  if (isOff) return { ...nothing, addresses: frozen({ binding, state, settings, trigger }, found) };
  const intents = intentsOf(binding, settings, treasury.address, tank, first);
  const prices = await pricesOf(binding, intents);
  if (isRefusal(prices)) return prices;
  const available = tankPays(settings) ? await leftInTank({ binding, sweeps }, accountId as AccountId, tank) : null,
    beside = available === null ? null : openJobsOn(state.sweepPolicies, chain);
  const said = saidByLeader(await parts.edge.sessions(accountId as AccountId)),
    isUnknown = await lacksToken(parts, said, chain, token);
  const around = { binding, state, settings, trigger, prices, rate, isUnknown, shareBps: said?.sweepFeeRatioBps };
  const intentsFor = (own: SweepCandidate) => intentsOf(binding, settings, treasury.address, tank, own);
  const heldBy = (one: SweepCandidate) =>
    FAMILY_OF[chain] === 'btc' ? coinsOf(binding, intentsFor(one).sweep, one) : balancesOf(binding, one.address, token);
  const looked: Looked[] = [];
  let taken = 0,
    lookedTo: SweepPlace | null = null;
  for (let part = found; part.length > 0;) {
    for (let at = 0; at < part.length; at += ASKED_AT_ONCE) {
      const some = part.slice(at, at + ASKED_AT_ONCE);
      const held = await Promise.all(
        some.map(async (one) => (page.upTo !== undefined && isDecided(state, chain, one) ? NOTHING : heldBy(one))),
      );
      looked.push(...some.map((candidate, index) => ({ candidate, held: held[index]! })));
    }
    taken = looked.filter(({ candidate, held }) => isTaken({ ...around, left: null }, candidate, held)).length;
    const isWhole = part.length === page.most,
      isFull = taken >= page.most,
      place = placeOf(part.at(-1)!);
    // What is full goes on where it began: what it takes is there no more by then.
    if (isWhole && upTo > 0 && (isFull || looked.length >= upTo))
      lookedTo = isFull ? (isFromTop ? null : behind) : place;
    part = isWhole && !isFull && looked.length < upTo ? await read(place) : [];
  }
  const shared = await sharedOut(around, looked, available, intentsFor),
    addresses = page.upTo === undefined ? shared : withinRoom(shared, roomOf(said, chain));
  return { binding, treasury, tank, available, beside, prices, rate, addresses, lookedTo };
}

const placeOf = ({ credited, address }: SweepCandidate): SweepPlace => ({ amount: String(credited), address });

/** The first candidates of a cycle, and whether they are the largest: behind the last one it begins anew. */
async function firstOf(
  read: (from: number | SweepPlace) => Promise<SweepCandidate[]>,
  begin: number,
  behind: SweepPlace | null,
): Promise<readonly [SweepCandidate[], boolean]> {
  const rest = behind === null ? [] : await read(behind);
  return rest.length > 0 ? [rest, false] : [await read(begin), true];
}

/**
 * What a tank may promise, smallest native unit: its balance less what stays and what it keeps for open operations. W9.
 * Its promises are read first: what left the tank between the two is missing twice rather than never.
 */
export async function leftInTank(
  { binding, sweeps }: { binding: ChainBinding; sweeps: Pick<SweepStore, 'promised'> },
  accountId: AccountId,
  { address }: Tank,
): Promise<bigint> {
  const promised = await sweeps.promised(accountId, binding.network.slug);
  const { available } = await binding.client.fetchBalance(address, null);
  return available > promised ? available - promised : 0n;
}

/** What a plan comes to, what is taken first, with the ids of all that it may build. Treasury S17. */
export const operationsOf = ({ addresses }: Plan, nowMs: number): PlannedOperation[] =>
  [...addresses.filter(({ reason }) => reason === null), ...addresses.filter(({ reason }) => reason !== null)].map(
    ({ candidate: { address }, amount, cost, ofTank, reason, blocked }) => ({
      id: newId('swo', nowMs),
      address,
      amount,
      estimate: cost,
      promised: reason === null ? ofTank : 0n,
      reason,
      blocked: blocked ?? null,
      fundId: newId('txn', nowMs),
      sweepId: newId('txn', nowMs),
    }),
  );

function homeOf(state: AccountState, { chain, treasuryWalletId }: PlanSettings) {
  const wallet = state.treasuryWallets.find((one) =>
    treasuryWalletId === null ? one.chain === chain && one.source === 'derived' : one.id === treasuryWalletId,
  );
  if (wallet !== undefined) return placed(state, wallet);
  const own = treasuryWalletId === null ? derivedAt(state, chain) : null;
  return own === null ? null : { address: own.address, derivationPath: own.path, tag: null };
}

/** K9: what the registry in force says of the token by now; one of a simulated ledger alone is in none. */
function mayBeSwept({ chains: { tokens } }: PlanParts, chain: Chain, token: string): boolean {
  const deployment = findDeployment(chain, token, tokens.current);
  return isRefusal(deployment) || isSweepable(deployment);
}

interface Around {
  readonly binding: ChainBinding;
  readonly state: AccountState;
  readonly settings: PlanSettings;
  readonly trigger: SweepJobRow['trigger'];
  readonly prices: Prices;
  readonly rate: UsedRate | null;
  /** The leader edge has a registry of before the token. */
  readonly isUnknown: boolean;
  /** What an issuer may keep where the leader signs; absent where it did not say. */
  readonly shareBps?: number | undefined;
  /** What the tank has left for this address; null where it pays nothing. */
  readonly left: bigint | null;
}

/** K9, K18: the token is swept, or taken in, no more: the chain is not asked about it. */
const frozen = (
  around: Pick<Around, 'binding' | 'state' | 'settings' | 'trigger'>,
  found: readonly SweepCandidate[],
): PlannedAddress[] =>
  found.map((candidate) => {
    const held = { asset: candidate.credited, reserved: 0n, native: 0n, exists: true, isDeclined: true };
    return plannedOf({ ...around, prices: NO_PRICES, rate: null, isUnknown: false, left: null }, candidate, held);
  });

interface Held {
  readonly asset: bigint;
  readonly reserved: bigint;
  /** What may pay a fee. */
  readonly native: bigint;
  /** Whether the address is on the chain. */
  readonly exists: boolean;
  /** The chain would not run its transfer; absent where that was not asked. */
  readonly isDeclined?: boolean;
  /** Fee of this address's own sweep, which is taken off `asset`; absent where all cost alike. */
  readonly fee?: bigint;
}

/** Decided before the chain is asked: nothing has to be read for it. */
const isDecided = (state: AccountState, chain: Chain, one: SweepCandidate): boolean =>
  one.isObserved || one.isPaying || one.openOperationId !== null || watchOnly(state, chain, one.path) !== null;
const NOTHING: Held = { asset: 0n, reserved: 0n, native: 0n, exists: true };

/** Whether fees of a policy come from the gas tank. */
export const tankPays = ({ gasFundingMode }: Pick<PlanSettings, 'gasFundingMode'>): boolean =>
  gasFundingMode !== 'SELF';

interface Looked {
  readonly candidate: SweepCandidate;
  readonly held: Held;
}

const isTaken = (around: Around, candidate: SweepCandidate, held: Held): boolean =>
  plannedOf(around, candidate, held).reason === null;

/**
 * Addresses in their order, each with what the tank has left for it. Where that does not suffice for all of them, one
 * whose transfer the chain would not run is asked for first, so that it takes nothing from those behind it. W9, K17.
 */
async function sharedOut(
  { prices, ...around }: Omit<Around, 'left'>,
  looked: readonly Looked[],
  available: bigint | null,
  intentsFor: (candidate: SweepCandidate) => Intents,
): Promise<PlannedAddress[]> {
  const whole = plannedIn({ ...around, prices }, looked, null);
  const wanted = whole.reduce((sum, { reason, ofTank }) => (reason === null ? sum + ofTank : sum), 0n);
  if (available === null || wanted <= available) return whole;
  const addresses: PlannedAddress[] = [];
  let left = available,
    { opening } = prices;
  for (const { candidate, held } of looked) {
    const asked = { ...around, prices: { ...prices, opening }, left };
    const planned = await withItsOwn(asked, plannedOf(asked, candidate, held), held, intentsFor);
    if (planned.reason === null) {
      left -= planned.ofTank;
      opening = 0n;
    }
    addresses.push(planned);
  }
  return addresses;
}

/** The same without asking anybody; only the first that is taken opens the treasury's account. */
function plannedIn(
  { prices, ...around }: Omit<Around, 'left'>,
  looked: readonly Looked[],
  left: null,
): PlannedAddress[] {
  let { opening } = prices;
  return looked.map(({ candidate, held }) => {
    const planned = plannedOf({ ...around, prices: { ...prices, opening }, left }, candidate, held);
    if (planned.reason === null) opening = 0n;
    return planned;
  });
}

/**
 * What an address says of itself, where the tank is short: a transfer that would fail is not paid for; on tron energy
 * of its own may spare the tank.
 */
async function withItsOwn(
  around: Around,
  planned: PlannedAddress,
  held: Held,
  intentsFor: (candidate: SweepCandidate) => Intents,
): Promise<PlannedAddress> {
  const { binding, settings, prices } = around,
    { candidate, reason, ofTank } = planned;
  const isPaid = reason === null && ofTank > 0n && settings.token !== null && binding.module.declines !== undefined,
    mayHave = reason === 'funding_wallet_low' && FAMILY_OF[settings.chain] === 'tron' && held.exists;
  if (!isPaid && !mayHave) return planned;
  const { sweep } = intentsFor(candidate);
  const inputs = await binding.client.fetchBuildInputs(sweep);
  if (isPaid) {
    const isDeclined = (binding.module.declines?.(inputs, sweep) ?? null) !== null;
    return isDeclined ? plannedOf(around, candidate, { ...held, isDeclined }) : planned;
  }
  const fee = binding.module.estimateFee(binding.network, inputs, sweep);
  if (isRefusal(fee)) return planned;
  return plannedOf({ ...around, prices: { ...prices, need: heldFor(fee) } }, candidate, held);
}

function plannedOf(
  { binding: { network }, state, settings, trigger, prices, rate, isUnknown, shareBps, left }: Around,
  candidate: SweepCandidate,
  held: Held,
): PlannedAddress {
  const { chain, gasFundingMode } = settings,
    { address, path, credited, openOperationId } = candidate;
  const isShort = gasFundingMode === 'FUNDING_WALLET' && held.native < prices.need,
    funding = isShort ? prices.need - held.native : 0n,
    activation = isShort && !held.exists ? prices.activation : 0n,
    fundFee = isShort ? prices.fund + activation : 0n,
    paid = (held.fee ?? prices.sweep) + prices.opening + fundFee,
    l1OfFund = isShort ? prices.l1.fund : 0n;
  const parts: CostParts = {
    sweep: (held.fee ?? prices.sweep) - prices.l1.sweep,
    funding: fundFee - activation - l1OfFund,
    activation,
    rent: prices.opening,
    l1: prices.l1.sweep + l1OfFund,
  };
  const uncounted = isShort ? uncountedActivation(network, activation) : prices.opening > 0n ? prices.uncounted : 0n;
  const counted = paid + funding + uncounted;
  const ofTank = gasFundingMode === 'FEE_PAYER' ? paid : funding + fundFee;
  const inAsset = costInAsset(paid, rate);
  const most = held.asset < credited ? held.asset : credited,
    shared = prices.keptOf === null ? null : shareBlocked(shareBps, most, prices.keptOf(most));
  const choice = choose(settings, trigger, {
    balance: held.asset,
    credited,
    reserve: held.fee === undefined ? keptOf(settings, prices, held, credited) : 0n,
    cost: paid,
    costInAsset: inAsset,
    isObserved: candidate.isObserved,
    isWatchOnly: watchOnly(state, chain, path) !== null,
    hasWithdrawal:
      candidate.isPaying || Object.keys(state.counters[counterKey(chain, address)]?.inFlight ?? {}).length > 0,
    hasSweep: openOperationId !== null,
    isDeclined: held.isDeclined === true,
    isReady: prices.isReady,
    isShareTooLarge: shared !== null,
    isKnownToEdge: !isUnknown,
    isFunded: left === null || ofTank === 0n || left >= ofTank,
  });
  const uncredited = held.asset > credited ? held.asset - credited : 0n;
  const blocked = choice.reason === 'fee_ratio' && shared !== null ? { blocked: shared } : {},
    costs = { cost: paid, parts, costInAsset: inAsset, funding, ofTank, counted, uncredited };
  return { candidate, ...choice, ...costs, ...blocked };
}

/**
 * What stays on an address after its sweep: the chain's minimum, and of a native sweep its fee and the float. A Solana
 * account may be emptied, but holds its minimum as long as anything is left on it. L28.
 */
function keptOf(
  { chain, token, gasFundingMode, retainGasFloat }: PlanSettings,
  { sweep }: Prices,
  { asset, reserved }: Held,
  credited: bigint,
): bigint {
  if (token !== null) return reserved;
  const float = sweep * BigInt(retainGasFloat),
    ownFee = gasFundingMode === 'SELF' ? sweep : 0n;
  if (FAMILY_OF[chain] !== 'sol') return reserved + ownFee + float;
  if (float === 0n && credited >= asset) return 0n;
  return float > reserved ? float : reserved;
}

function intentsOf(
  { catalogue, network: { feeCap } }: ChainBinding,
  { chain, token, gasFundingMode }: PlanSettings,
  to: string,
  tank: Tank,
  { address, path, credited }: SweepCandidate,
): Intents {
  const native = { chain, amount: 1n, token: null, tag: null };
  // T19, T23: on tron each byte of an amount costs. No address has more of it than the first, and none is funded with
  // more than what a fee may be.
  const isByBytes = FAMILY_OF[chain] === 'tron' && credited > 0n;
  const payer = gasFundingMode === 'FEE_PAYER' ? { feePayer: tank.address } : {};
  const ofSweep = isByBytes && token === null ? { ...native, amount: credited } : native,
    ofFund = isByBytes ? { ...native, amount: feeCap } : native;
  const sweep: Intent = { ...ofSweep, from: address, fromPath: path, to, ...payer };
  return {
    sweep: token === null ? sweep : { ...sweep, token: catalogue.get(token)! },
    fund:
      gasFundingMode === 'FUNDING_WALLET' ? { ...ofFund, from: tank.address, fromPath: tank.path, to: address } : null,
  };
}

/** What of a native balance may pay a fee: on xrp the reserve too. R24. */
export const gasOf = (chain: Chain, { amount, available }: Pick<Balance, 'amount' | 'available'>): bigint =>
  FAMILY_OF[chain] === 'xrp' ? amount : available;

/** Coins that a sweep of the address would move, less its fee; nothing where none is worth it. Treasury 5.4, B6. */
async function coinsOf(
  { client, module, network }: ChainBinding,
  sweep: Intent,
  { credited }: SweepCandidate,
): Promise<Held> {
  const asked: Intent = { ...sweep, amount: 'all', sweepUpTo: credited };
  const fee = module.estimateFee(network, await client.fetchBuildInputs(asked), asked);
  const nothing = { asset: 0n, reserved: 0n, native: 0n, exists: true };
  return isRefusal(fee) ? { ...nothing, fee: 0n } : { ...nothing, asset: fee.moved ?? 0n, fee: fee.feeMax };
}

async function balancesOf(
  { client, network, catalogue }: ChainBinding,
  address: string,
  token: string | null,
): Promise<Held> {
  const native = await client.fetchBalance(address, null),
    gas = { native: gasOf(network.slug, native), exists: native.accountExists };
  if (token === null) return { asset: native.amount, reserved: native.reserved, ...gas };
  const held = await client.fetchBalance(address, catalogue.get(token)!);
  return { asset: held.amount, reserved: held.reserved, ...gas };
}
