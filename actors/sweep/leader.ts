/** What the leader edge said of itself, as far as a plan counts on it. Treasury K15, S27. */
import { findDeployment, type Registry } from '../../chains/catalogue.ts';
import type { Tokens } from '../../chains/tokens.ts';
import type { EdgeStore, SessionRow } from '../../model/ports/edge-store.ts';
import type { RegistryStore } from '../../model/ports/registry-store.ts';
import type { Blocked } from '../../model/account/sweep.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { EdgeTreasury } from '../../protocol/frames.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { registryAt } from '../treasury/registry-at.ts';

export interface LeaderParts {
  readonly chains: { readonly tokens: Pick<Tokens, 'current'> };
  readonly edge: Pick<EdgeStore, 'sessions'>;
  readonly registry: Pick<RegistryStore, 'published'>;
}

/** What the leader of these sessions said last; null where none leads, or nothing was said. */
export function saidByLeader(sessions: readonly SessionRow[]): EdgeTreasury | null {
  const leader = sessions.find(({ role, endedAtMs }) => role === 'leader' && endedAtMs === null);
  return leader?.treasury ?? null;
}

/** A cap that is not named is zero, the default: nothing is signed until it is set. */
export const capOf = ({ caps }: Pick<EdgeTreasury, 'caps'>, chain: Chain): { cap: string; spent: string } =>
  caps.find((one) => one.chain === chain) ?? { cap: '0', spent: '0' };

/** The room of a leader's window; null where it is not known. */
export interface Room {
  readonly chain: Chain;
  readonly cap: bigint;
  readonly spent: bigint;
  readonly windowSeconds: number;
}

export const roomOf = (said: EdgeTreasury | null, chain: Chain): Room | null => {
  if (said === null) return null;
  const { cap, spent } = capOf(said, chain);
  return { chain, cap: BigInt(cap), spent: BigInt(spent), windowSeconds: said.windowSeconds };
};

/**
 * Of those that are taken, in their order, what the edge would sign of them within its window: the rest is left for a
 * later cycle rather than refused one by one. One that is above the whole cap is no matter of the window: the edge says
 * so, and the job fails with the setting.
 */
export function withinRoom<A extends { readonly reason: string | null; readonly counted: bigint }>(
  addresses: readonly A[],
  room: Room | null,
): (A & { readonly blocked?: Blocked })[] {
  if (room === null) return [...addresses];
  let left = room.cap > room.spent ? room.cap - room.spent : 0n;
  return addresses.map((one) => {
    const { reason, counted } = one;
    if (reason !== null || counted > room.cap) return one;
    if (counted > left) return { ...one, reason: 'edge_window_spent', blocked: blockedBy(room, counted) };
    left -= counted;
    return one;
  });
}

const blockedBy = ({ chain, cap, spent, windowSeconds }: Room, required: bigint): Blocked => ({
  reason: 'edge_window_spent',
  setting: `EDGE_SPEND_CAP_${chain.toUpperCase()}`,
  cap: String(cap),
  spent: String(spent),
  required: String(required),
  windowSeconds,
});

/**
 * What the leader has against what an issuer keeps of an amount: its bound is a share of what arrives. Null where it
 * would sign, or is not known to refuse. E3.
 */
export function shareBlocked(ratioBps: number | undefined, amount: bigint, kept: bigint): Blocked | null {
  const bound = ratioBps === undefined ? null : ((amount - kept) * BigInt(ratioBps)) / 10_000n;
  if (bound === null || kept <= bound) return null;
  const setting = 'EDGE_SWEEP_FEE_RATIO_BPS';
  return { reason: 'fee_ratio', setting, cap: String(bound), spent: null, required: String(kept), windowSeconds: null };
}

/** Whether the leader has a registry of before a token: it would sign nothing of it. K15. */
export async function lacksToken(
  { chains: { tokens }, registry }: Pick<LeaderParts, 'chains' | 'registry'>,
  said: EdgeTreasury | null,
  chain: Chain,
  token: string | null,
): Promise<boolean> {
  const { current } = tokens;
  if (said === null || token === null || said.registryVersion >= current.version || !names(current, chain, token))
    return false;
  const kept = await registryAt(tokens, registry, said.registryVersion);
  return kept !== null && !names(kept, chain, token);
}

const names = (registry: Registry, chain: Chain, token: string): boolean =>
  !isRefusal(findDeployment(chain, token, registry));
