/**
 * Transfers as the account decides them: accepted within the limits of their policy, moved by arrows, announced when
 * they have arrived or do not go on. Treasury H3–H5, H11.
 */
import type { RowWrite, AccountState } from '../../model/account/capabilities.ts';
import type { BridgePolicy } from '../../model/account/bridge.ts';
import type { BridgeTransferRow } from '../../model/rows/bridge.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';
import { rotationPending, suspended } from '../account/guards.ts';
import { placed } from '../treasury/view.ts';
import { isArrow, isOver, moved, transferWrite } from './moves.ts';
import { policyOf } from './policy.ts';

/**
 * Takes a transfer on; from now on it counts as on its way, so that transfers that are asked for together cannot pass
 * a limit together. Refuses: IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, NOT_FOUND, CONFLICT (disabled),
 * CHAIN_NOT_READY, AMOUNT_CAP_EXCEEDED, INSUFFICIENT_FUNDS.
 */
export function acceptTransfer({
  state,
  command: { policyId, ids, amount, available },
  nowMs,
}: Deciding<'accept_bridge_transfer'>): AccountDecision<'accept_bridge_transfer'> {
  const policy = policyOf(state, policyId);
  if (isRefusal(policy)) return firstRefusal(rotationPending(state), suspended(state)) ?? policy;
  const ends = endsOf(state, policy);
  const no = firstRefusal(
    rotationPending(state),
    suspended(state),
    policy.enabled
      ? null
      : refuse('CONFLICT', { reason: 'disabled', policyId, next: 'set enabled to true in the policy' }),
    isRefusal(ends) ? ends : null,
    aboveLimits(policy, amount),
    available >= amount
      ? null
      : refuse('INSUFFICIENT_FUNDS', {
          chain: policy.fromChain,
          balance: String(available),
          required: String(amount),
        }),
  );
  if (no !== null) return no;
  const { source, recipient, recipientPath } = ends as Ends,
    { fromChain, toChain, token: tokenContract } = policy;
  const row: BridgeTransferRow = {
    ...ids,
    version: 1,
    policyId,
    fromChain,
    toChain,
    tokenContract,
    source,
    recipient,
    recipientPath,
    amount,
    maxFee: null,
    state: 'PLANNED',
    reason: null,
    stalledReason: null,
    stalledAtMs: null,
    blocked: null,
    message: null,
    attested: null,
    attestation: null,
    mintFrom: null,
    attestingAtMs: null,
    lookAtMs: nowMs,
    received: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    endedAtMs: null,
  };
  const counted = withInFlight(policy, 1, amount);
  return accept(row, [{ type: 'bridge_policy_set', policy: counted }, movedEvent(row)], [transferWrite(row)]);
}

interface Ends {
  readonly source: string;
  readonly recipient: string;
  readonly recipientPath: string | null;
}

/** Where the wallets of a policy are now: a derived one follows the pinned identity. */
function endsOf(state: AccountState, policy: BridgePolicy): Ends | Refusal {
  const [source, recipient] = [policy.sourceWalletId, policy.destinationWalletId].map((id) => {
    const wallet = state.treasuryWallets.find((one) => one.id === id);
    return wallet === undefined ? null : placed(state, wallet);
  });
  const missing = (chain: string) => refuse('CHAIN_NOT_READY', { chain, reason: 'no key of the chain is registered' });
  if (source?.address == null) return missing(policy.fromChain);
  if (recipient?.address == null) return missing(policy.toChain);
  return { source: source.address, recipient: recipient.address, recipientPath: recipient.derivationPath };
}

function aboveLimits(policy: BridgePolicy, amount: bigint): Refusal | null {
  const { maxSingleTransfer, maxInFlightValue, maxInFlightCount, inFlightValue, inFlightCount } = policy;
  const above = (limit: string, cap: string | number, inFlight: string | number) =>
    refuse('AMOUNT_CAP_EXCEEDED', {
      policyId: policy.id,
      limit,
      cap: String(cap),
      inFlight: String(inFlight),
      amount: String(amount),
      next:
        limit === 'maxSingleTransfer'
          ? 'send less at once, or raise the limit in the policy'
          : 'wait until transfers have arrived, or raise the limit in the policy',
    });
  if (amount > BigInt(maxSingleTransfer)) return above('maxSingleTransfer', maxSingleTransfer, 0);
  if (inFlightCount >= maxInFlightCount) return above('maxInFlightCount', maxInFlightCount, inFlightCount);
  if (BigInt(inFlightValue) + amount > BigInt(maxInFlightValue))
    return above('maxInFlightValue', maxInFlightValue, inFlightValue);
  return null;
}

const withInFlight = (policy: BridgePolicy, count: 1 | -1, amount: bigint): BridgePolicy => ({
  ...policy,
  inFlightCount: Math.max(0, policy.inFlightCount + count),
  inFlightValue: String(BigInt(policy.inFlightValue) + BigInt(count) * amount),
});

const movedEvent = ({ id, state, reason, stalledReason }: BridgeTransferRow) =>
  ({ type: 'bridge_transfer_moved', id, state, reason: reason ?? stalledReason }) as const;

/** One arrow that builds nothing. Refuses: CONFLICT for an arrow that is none. */
export function moveTransfer({
  state,
  command: { known, to, fields },
  nowMs,
}: Deciding<'move_bridge_transfer'>): AccountDecision<'move_bridge_transfer'> {
  if (!isArrow(known.state, to)) return refuse('CONFLICT', { reason: 'state', status: known.state });
  const row = moved(known, to, fields, nowMs),
    policy = state.bridgePolicies.find(({ id }) => id === row.policyId);
  const ended = policy === undefined || !isOver(to) ? null : withInFlight(policy, -1, row.amount);
  const isNewlyStalled = known.stalledAtMs === null && row.stalledAtMs !== null;
  // What moves nothing, the next look, is no event: a transfer that waits for weeks would fill the stream with it.
  const isSame = to === known.state && row.stalledReason === known.stalledReason && row.blocked === known.blocked;
  const events = [
    ...(ended === null ? [] : [{ type: 'bridge_policy_set' as const, policy: ended }]),
    ...(isSame ? [] : [movedEvent(row)]),
  ];
  return accept(row, events, [
    transferWrite(row),
    ...(to === 'COMPLETED' ? [announced(state, 'bridge_completed', row, nowMs)] : []),
    ...(isNewlyStalled ? [announced(state, 'bridge_stalled', row, nowMs)] : []),
  ]);
}

function announced(
  state: AccountState,
  event: 'bridge_completed' | 'bridge_stalled',
  row: BridgeTransferRow,
  nowMs: number,
): RowWrite {
  const { id, policyId, fromChain, toChain, tokenContract, amount, received, stalledReason } = row;
  return publish(state, {
    event,
    id: eventIdAt(state, 1, event),
    confirmations: null,
    threshold: null,
    atMs: nowMs,
    orderKey: '',
    data: {
      transferId: id,
      policyId,
      fromChain,
      toChain,
      asset: 'USDC',
      tokenContract,
      state: row.state,
      amount: String(amount),
      received: received === null ? null : String(received),
      recipient: row.recipient,
      burnTransactionId: row.burnId,
      mintTransactionId: row.state === 'COMPLETED' ? row.mintId : null,
      reason: stalledReason,
    },
  });
}

/** It is looked at now, whatever it waits for. Refuses: ACCOUNT_SUSPENDED, CONFLICT for one that has ended. H3, H11. */
export function retryTransfer({
  state,
  command: { known },
  nowMs,
}: Deciding<'retry_bridge_transfer'>): AccountDecision<'retry_bridge_transfer'> {
  const no = firstRefusal(
    suspended(state),
    isOver(known.state)
      ? refuse(
          'CONFLICT',
          { reason: 'ended', status: known.state },
          known.state === 'FAILED'
            ? 'nothing of this transfer was burnt: start another one'
            : 'this transfer has arrived',
        )
      : null,
  );
  if (no !== null) return no;
  const row = moved(known, known.state, { lookAtMs: nowMs }, nowMs);
  return accept(row, [], [transferWrite(row)]);
}
