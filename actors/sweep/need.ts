/** What a sweep needs on its address, and what is there now. Treasury 5.4, S14. */
import type { BuildInputs, Intent } from '../../chains/chain.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { ChainBinding } from '../../model/ports/chain-access.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { placed, tankOf, type Tank } from '../treasury/view.ts';
import { heldFor, opensTreasury } from './costs.ts';
import { gasOf, type PlanSettings } from './plan.ts';

interface Around {
  readonly parts: { readonly reads: Pick<ReadStore, 'addressByText'> };
  readonly accountId: AccountId;
  readonly job: SweepJobRow;
  readonly settings: PlanSettings;
  readonly state: AccountState;
  readonly binding: ChainBinding;
}

export interface Now {
  /** What must lie on the address, and what does, native. */
  readonly need: bigint;
  readonly gas: bigint;
  /** Of the asset, less what has to stay of it. */
  readonly held: bigint;
  /** The most that the sweep can cost. */
  readonly cost: bigint;
  /** What the sweep names: what arrives of the operation's amount. */
  readonly moves: bigint;
  /** In the chain's words. */
  readonly declined: string | null;
  /** The sweep makes the treasury's account, or the one for the token. */
  readonly opens: boolean;
  /** What is there pays for it at a price that a block still takes, below the usual one. */
  readonly isWithin: boolean;
}

/** What the sweep needs there, and what is there. Null for an address that the account has no more. */
export async function needOf(
  { parts, accountId, job, binding, state, settings }: Around,
  operation: SweepOperationRow,
): Promise<Now | null> {
  const { address, amount } = operation;
  const { client, module, network, catalogue } = binding;
  const from = await parts.reads.addressByText(accountId, job.chain, address),
    to = treasuryOf(state, settings);
  const token = job.tokenContract === null ? null : (catalogue.get(job.tokenContract) ?? null);
  if (from === null || to === null || (token === null && job.tokenContract !== null)) return null;
  const intent = { chain: job.chain, from: address, fromPath: from.derivationPath, to: to.address, tag: to.tag };
  const coins = coinsOf(operation);
  const asked: Intent = { ...intent, amount, token, ...payerOf(settings, tankOf(state, job.chain)), ...coins };
  const inputs = await client.fetchBuildInputs(asked);
  const fee = module.estimateFee(network, inputs, asked);
  if (isRefusal(fee)) return null;
  if (fee.moved !== undefined) return { ...COINS, held: amount, moves: amount, cost: fee.feeMax };
  const [held, gas] = await Promise.all([client.fetchBalance(address, token), client.fetchBalance(address, null)]);
  const need = settings.gasFundingMode === 'FEE_PAYER' ? 0n : heldFor(fee);
  // A Solana account may be emptied whole, or keeps its minimum. L28.
  const isEmptied = FAMILY_OF[job.chain] === 'sol' && held.amount === amount,
    native = (isEmptied ? held.amount : held.available) - need;
  const gasThere = gasOf(job.chain, gas);
  return {
    need,
    gas: gasThere,
    held: token === null ? native : held.available,
    cost: fee.feeMax,
    declined: token === null ? null : (module.declines?.(inputs, asked) ?? null),
    moves: token === null ? amount : (module.arrives?.(inputs, amount) ?? amount),
    opens: opensTreasury(binding, fee, inputs, asked),
    isWithin: need > gasThere && isPaidBy(binding, inputs, asked, gasThere),
  };
}

/** Of a sweep of coins, which pays its fee from what it moves and takes what is there of them. */
const COINS = { need: 0n, gas: 0n, declined: null, opens: false, isWithin: false } as const;

/** A sweep of coins takes all of them that were planned, with what was planned for the fee. */
export const coinsOf = ({ chain, amount, estimate }: SweepOperationRow): { amount?: 'all'; sweepUpTo?: bigint } =>
  FAMILY_OF[chain] === 'btc' ? { amount: 'all', sweepUpTo: amount + estimate } : {};

/** Whether a sweep can be priced so that it costs no more than this. */
function isPaidBy({ module, network }: ChainBinding, inputs: BuildInputs, asked: Intent, gas: bigint): boolean {
  const fee = module.estimateFee(network, inputs, { ...asked, withinFee: gas });
  return !isRefusal(fee) && heldFor(fee) <= gas;
}

export function treasuryOf(state: AccountState, { treasuryWalletId }: PlanSettings) {
  const wallet = state.treasuryWallets.find(({ id }) => id === treasuryWalletId);
  if (wallet === undefined) return null;
  const { address, derivationPath, tag } = placed(state, wallet);
  return address === null ? null : { address, path: derivationPath, tag };
}

/** Who pays beside the address, where the chain can do that. L30, M28. */
export const payerOf = ({ gasFundingMode }: PlanSettings, tank: Tank | null): { feePayer?: string } =>
  gasFundingMode === 'FEE_PAYER' && tank !== null ? { feePayer: tank.address } : {};
