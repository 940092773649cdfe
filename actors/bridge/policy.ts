/**
 * Bridge policies as the account owns them: one for a way of a token, between its own wallets, with limits that hold
 * over all of its transfers. Whether the way is open the registry says (chains/ways.ts). Treasury H2.
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { BridgePolicy, BridgeSettings } from '../../model/account/bridge.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';

/** The catalogue bounds them; a registry that grows does not make snapshots endless. */
export const POLICIES_MAX = 100;

/**
 * Adds a policy. Refuses: ACCOUNT_SUSPENDED, INVALID_INPUT (settings that do not fit), NOT_FOUND (a wallet), CONFLICT
 * (the way has one, or there are too many).
 */
export function createPolicy({
  state,
  command: { id, settings },
  nowMs,
}: Deciding<'create_bridge_policy'>): AccountDecision<'create_bridge_policy'> {
  const same = state.bridgePolicies.find((one) => isSameWay(one, settings));
  const no = firstRefusal(
    suspended(state),
    unfit(state, settings),
    same === undefined ? null : refuse('CONFLICT', { reason: 'policy_exists', policyId: same.id }),
    state.bridgePolicies.length < POLICIES_MAX
      ? null
      : refuse('CONFLICT', { reason: 'policy_limit', limit: POLICIES_MAX }),
  );
  const nothing = { inFlightCount: 0, inFlightValue: '0' };
  return no ?? set({ ...settings, id, version: 1, ...nothing, createdAtMs: nowMs, updatedAtMs: nowMs });
}

/** The whole policy anew; its way stays. Refuses: as creation does, and CONFLICT for another version. */
export function replacePolicy({
  state,
  command: { id, settings, version },
  nowMs,
}: Deciding<'replace_bridge_policy'>): AccountDecision<'replace_bridge_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return suspended(state) ?? known;
  const fixed = (['fromChain', 'toChain', 'token'] as const).find((field) => known[field] !== settings[field]);
  const no = firstRefusal(
    suspended(state),
    fixed === undefined ? null : wrong(fixed, 'fixed: make another policy for another way'),
    unfit(state, settings),
    version === null || version === known.version
      ? null
      : refuse('CONFLICT', { reason: 'version', expected: version, found: known.version }),
  );
  return no ?? set({ ...known, ...settings, version: known.version + 1, updatedAtMs: nowMs });
}

/** Refuses: NOT_FOUND, CONFLICT while transfers are on their way: another policy would forget that they count. */
export function deletePolicy({
  state,
  command: { id },
}: Deciding<'delete_bridge_policy'>): AccountDecision<'delete_bridge_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return known;
  if (known.inFlightCount > 0)
    return refuse(
      'CONFLICT',
      { reason: 'transfers_in_flight', policyId: id, count: known.inFlightCount },
      'transfers of this policy are on their way: set enabled to false, and delete it when they have ended',
    );
  return accept(known, [{ type: 'bridge_policy_deleted', id }]);
}

export function policyOf({ bridgePolicies }: Pick<AccountState, 'bridgePolicies'>, id: string): BridgePolicy | Refusal {
  return bridgePolicies.find((one) => one.id === id) ?? notFound('bridge policy', id, { policyId: id });
}

function set(policy: BridgePolicy): AccountDecision<'create_bridge_policy'> {
  return accept(policy, [{ type: 'bridge_policy_set', policy }]);
}

const isSameWay = (one: BridgeSettings, other: BridgeSettings): boolean =>
  one.fromChain === other.fromChain && one.toChain === other.toChain && one.token === other.token;

const wrong = (field: string, reason: string) => refuse('INVALID_INPUT', { field, reason });

/** The first setting that does not fit. */
function unfit(state: AccountState, settings: BridgeSettings): Refusal | null {
  const { fromChain, toChain, maxSingleTransfer, maxInFlightValue } = settings;
  if (BigInt(maxSingleTransfer) > BigInt(maxInFlightValue))
    return wrong('maxSingleTransfer', 'above maxInFlightValue: one transfer would pass the limit of all');
  return firstRefusal(
    unfitWallet(state, 'sourceWalletId', settings.sourceWalletId, fromChain, true),
    unfitWallet(state, 'destinationWalletId', settings.destinationWalletId, toChain, false),
  );
}

function unfitWallet(
  { treasuryWallets }: AccountState,
  field: string,
  id: string,
  chain: string,
  isSource: boolean,
): Refusal | null {
  const wallet = treasuryWallets.find((one) => one.id === id);
  if (wallet === undefined) return notFound('treasury wallet', id, { field });
  if (wallet.chain !== chain) return wrong(field, `a wallet of ${wallet.chain}: this end is on ${chain}`);
  return isSource && wallet.source !== 'derived'
    ? wrong(field, 'not derived: the edge signs for its own treasury alone')
    : null;
}
