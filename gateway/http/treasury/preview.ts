/** What a sweep policy would do, before there is one. Writes nothing. Treasury part 6. */
import {
  leftInTank,
  planOf,
  tankPays,
  type CostParts,
  type Plan,
  type PlannedAddress,
  type PlanSettings,
} from '../../../actors/sweep/plan.ts';
import type { Prices } from '../../../actors/sweep/costs.ts';
import type { UsedRate } from '../../../actors/sweep/rates.ts';
import { capOf, saidByLeader } from '../../../actors/sweep/leader.ts';
import { unfitDraft } from '../../../actors/sweep/policy.ts';
import { PREVIEW_TTL_MS, previewHashOf } from '../../../actors/sweep/preview-hash.ts';
import type { SweepStore } from '../../../model/ports/sweep-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { EdgeTreasury } from '../../../protocol/frames.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull } from '../views.ts';
import { settingsOf } from './policies.ts';

type View = ReplyOf<'previewSweep'>;
type Row = View['content'][number];
type Figures = Pick<
  View,
  'content' | 'skipped' | 'needsGas' | 'cost' | 'required' | 'fundingWallet' | 'rate' | 'feeSample' | 'asOf'
>;

/** The largest addresses of an asset that the sums are about; pages end there too. Treasury Y4. */
export const SUMMED_MAX = 100_000;
const BASIS = 10_000n;

export function previewHandler(deps: HandlerDeps): Pick<Handlers, 'previewSweep'> {
  const {
    chains,
    nowMs,
    stores: { sweeps, rates, edge, registry },
  } = deps;
  return {
    async previewSweep(asked) {
      const { page, size, treasuryWalletId = null, ...body } = asked.body,
        { version: registryVersion } = chains.tokens.current;
      const whole = settingsOf({ ...body, treasuryWalletId: treasuryWalletId ?? '' }, chains.tokens.current);
      if (isRefusal(whole)) return whole;
      const settings = { ...whole, treasuryWalletId },
        { chain, token, dustFloor, triggerMode } = settings;
      const accountId = accountOf(asked),
        state = await stateOf(deps, accountId);
      const unfit = unfitDraft(state, settings);
      if (unfit !== null) return unfit;
      const from = page * size,
        most = Math.max(0, Math.min(size, SUMMED_MAX - from));
      const trigger = triggerMode === 'THRESHOLD' ? 'threshold' : 'manual',
        plan = await planOf({ chains, sweeps, rates, edge, registry, nowMs }, state, settings, trigger, {
          floor: 1n,
          from,
          most,
        });
      if (isRefusal(plan)) return plan;
      const figures = await readNow({ sweeps, accountId }, plan, nowMs(), settings);
      const sums = await sweeps.sums(accountId, { chain, token }, BigInt(dustFloor), SUMMED_MAX + 1);
      const said = saidByLeader(await edge.sessions(accountId));
      const expiresAtMs = nowMs() + PREVIEW_TTL_MS,
        totalElements = sums.reduce((left, { count }) => left + count, 0);
      return {
        token,
        totals: sums.map(({ decision, count, amount }) => ({ decision, count, amount: String(amount) })),
        totalElements: Math.min(totalElements, SUMMED_MAX),
        isComplete: totalElements <= SUMMED_MAX,
        page,
        size,
        ...figures,
        edge: said === null ? null : edgeView(said, chain),
        registryVersion,
        previewHash: previewHashOf(settings, registryVersion, expiresAtMs),
        expiresAt: instantOf(expiresAtMs),
      };
    },
  };
}

function edgeView(said: EdgeTreasury, chain: Chain): View['edge'] {
  const { cap, spent } = capOf(said, chain);
  return { cap, spent };
}

/** A page as the chain has it now. Throws: ChainUnavailable, with empty pages too: no number is given then. */
async function readNow(
  { sweeps, accountId }: { readonly sweeps: Pick<SweepStore, 'promised'>; readonly accountId: AccountId },
  plan: Plan,
  nowMs: number,
  settings: PlanSettings,
): Promise<Figures> {
  const { client } = plan.binding,
    { height } = await client.getHead();
  const available = !tankPays(settings)
    ? null
    : (plan.available ?? (await leftInTank({ binding: plan.binding, sweeps }, accountId, plan.tank!)));
  const taken = plan.addresses.filter(({ reason }) => reason === null),
    funded = taken.filter(({ funding }) => funding > 0n);
  const sum = (values: readonly bigint[]) => values.reduce((left, right) => left + right, 0n);
  const gas = sum(funded.map(({ funding }) => funding)),
    costOf = (part: keyof CostParts) => String(sum(taken.map(({ parts }) => parts[part])));
  return {
    content: taken.map(rowOf),
    skipped: plan.addresses.filter(({ reason }) => reason !== null).map(rowOf),
    needsGas: { count: funded.length, amount: String(gas) },
    cost: {
      sweep: costOf('sweep'),
      funding: costOf('funding'),
      activation: costOf('activation'),
      rent: costOf('rent'),
      l1: costOf('l1'),
    },
    required: { edgeSpendCap: String(sum(taken.map(({ counted }) => counted))) },
    fundingWallet:
      available === null
        ? null
        : {
            available: String(available),
            enough: plan.addresses.every(({ reason }) => reason !== 'funding_wallet_low'),
          },
    rate: plan.rate === null ? null : rateView(plan.rate),
    feeSample: plan.prices === null ? null : sampleView(plan.prices),
    asOf: { height, at: instantOf(nowMs) },
  };
}

const rateView = ({ numerator, denominator, observedAtMs }: UsedRate): View['rate'] => ({
  numerator: String(numerator),
  denominator: String(denominator),
  observedAt: instantOrNull(observedAtMs),
});

const sampleView = ({ sweep, need, fund, activation, opening }: Prices): View['feeSample'] => ({
  sweep: String(sweep),
  need: String(need),
  funding: String(fund),
  activation: String(activation),
  rent: String(opening),
});

function rowOf({ candidate, amount, cost, costInAsset, funding, uncredited, reason }: PlannedAddress): Row {
  const { address, userRef } = candidate;
  return {
    address,
    userRef,
    amount: String(amount),
    uncredited: String(uncredited),
    cost: String(cost),
    fundingNeeded: String(funding),
    feeRatioBps: costInAsset === null || amount === 0n ? null : ratioOf(costInAsset, amount),
    decision: reason === null ? 'take' : 'skip',
    reason,
    source: 'chain',
  };
}

/** Rounded up; a cost that is a multiple of the amount says only that it is large. */
const RATIO_MAX = 1_000_000_000n;
function ratioOf(cost: bigint, amount: bigint): number {
  const ratio = (cost * BASIS + amount - 1n) / amount;
  return Number(ratio > RATIO_MAX ? RATIO_MAX : ratio);
}
