/** Sweep policies and their jobs: a policy says what its caller set; how a job goes on is the cloud's word. */
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, isTokenAsked, itself, type Ask, type Known } from './known.ts';

/** Settings of a policy that its caller writes and its answer repeats as they are. */
const ECHOED = [
  'chain',
  'enabled',
  'triggerMode',
  'minAmount',
  'scheduleCron',
  'scheduleTimeZone',
  'treasuryWalletId',
  'gasFundingMode',
  'fundingWalletId',
  'dustFloor',
  'maxFeeRatioBps',
  'abortIfGasExceeds',
  'pauseOnConsecutiveFailures',
  'retainGasFloat',
  'closeTokenAccounts',
  'energy',
] as const;

/** Of those the ones that nobody fills in where they are left out. */
const AS_LEFT_OUT: ReadonlySet<string> = new Set([
  'minAmount',
  'scheduleCron',
  'fundingWalletId',
  'maxFeeRatioBps',
  'abortIfGasExceeds',
  'energy',
]);

/** A policy that says something else than its caller set: another treasury, another floor, another token. */
export function falsePolicy(row: ReplyOf<'getSweepPolicy'>, { body }: Ask, { catalogueOf }: Known): string | null {
  const other = ECHOED.find(
    (field) => (body[field] != null || AS_LEFT_OUT.has(field)) && row[field] !== (body[field] ?? null),
  );
  const { chain, token } = row;
  return other ?? firstFalse(['token', isTokenAsked(chain, { asked: body['token'], said: token }, catalogueOf(chain))]);
}

/** Another policy than the one that was asked about. */
export const ofPolicy = itself('policyId');

const BLOCKED_WORD = ['reason', 'setting', 'cap', 'spent', 'required', 'windowSeconds'].flatMap((field, at) =>
  at === 0 ? ['blocked', `blocked.${field}`] : [`blocked.${field}`],
);
export const POLICY_WORD = [
  'id',
  'version',
  'token',
  ...ECHOED,
  'pausedAt',
  'pausedReason',
  'consecutiveFailures',
  'nextRunAt',
  'openJobId',
  'lastCycle',
  'lastCycle.at',
  'lastCycle.result',
  'lastCycle.reason',
  'lastCycle.jobId',
  ...BLOCKED_WORD,
  'createdAt',
  'updatedAt',
];
export const JOB_WORD = [
  'policyId',
  'chain',
  'token',
  'trigger',
  'state',
  'run',
  ...BLOCKED_WORD,
  'createdAt',
  'updatedAt',
  'endedAt',
];
export const JOB_SETTINGS = [
  'treasuryWalletId',
  'fundingWalletId',
  'gasFundingMode',
  'dustFloor',
  'maxFeeRatioBps',
  'abortIfGasExceeds',
  'retainGasFloat',
];
export const OPERATION_WORD = [
  'id',
  'address',
  'state',
  'reason',
  'attempt',
  'amount',
  'estimate',
  'funding',
  'paid',
  'fundTransactionId',
  'sweepTransactionId',
  ...BLOCKED_WORD,
  'updatedAt',
];
const PREVIEW_ROW = [
  'address',
  'userRef',
  'amount',
  'uncredited',
  'cost',
  'fundingNeeded',
  'feeRatioBps',
  'decision',
  'reason',
  'source',
];
/** The rows of a page, and all that is beside them. */
export const PREVIEW_WORD = [
  ...PREVIEW_ROW,
  'token',
  'totals',
  'totals.*',
  'totals.*.decision',
  'totals.*.count',
  'totals.*.amount',
  'isComplete',
  'skipped',
  'skipped.*',
  ...PREVIEW_ROW.map((field) => `skipped.*.${field}`),
  'needsGas',
  'needsGas.count',
  'needsGas.amount',
  'cost.sweep',
  'cost.funding',
  'cost.activation',
  'cost.rent',
  'cost.l1',
  'rate',
  'rate.numerator',
  'rate.denominator',
  'rate.observedAt',
  'feeSample',
  ...['sweep', 'need', 'funding', 'activation', 'rent'].map((field) => `feeSample.${field}`),
  'required',
  'required.edgeSpendCap',
  'edge',
  'edge.cap',
  'edge.spent',
  'fundingWallet',
  'fundingWallet.available',
  'fundingWallet.enough',
  'asOf',
  'asOf.height',
  'asOf.at',
  'registryVersion',
  'previewHash',
  'expiresAt',
];
export const ofJob = itself('id');
/** What a caller that sets one leaves to the cloud. */
export const POLICY_SET_WORD = POLICY_WORD.filter(
  (field) => field !== 'token' && !(ECHOED as readonly string[]).includes(field),
);
