/**
 * Identities that an approved rotation replaced. Their addresses stay watched, and no key of today's edge is behind
 * them: their path is shown as an origin, `[fingerprint/path]`, so that nobody takes it for one of the present phrase.
 * Spec §5.7.
 */
import { createHash } from 'node:crypto';
import type { AddressRow } from '../../model/rows/address.ts';
import { FAMILY_OF, type Chain, type Family, type PooledChain } from '../../protocol/slugs.ts';
import type { AddressState } from '../../model/account/address.ts';
import type { EdgeLinkState, RetiredIdentity } from '../../model/account/edge-link.ts';

/** First 16 hex digits of SHA-256. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The retired identities with the state's own, at this moment. One that had come again is gone with it. */
export function retire(
  {
    enrolment,
    retired,
    indexes,
    pools,
  }: Pick<EdgeLinkState, 'enrolment' | 'retired'> & Pick<AddressState, 'indexes' | 'pools'>,
  atMs: number,
): RetiredIdentity[] {
  const next: Partial<Record<Family, number>> = { ...indexes };
  for (const [chain, pool] of Object.entries(pools)) next[FAMILY_OF[chain as PooledChain]] = pool.next;
  const before = retired.map(({ again: _, ...identity }) => identity);
  return [...before, { fingerprint: fingerprintOf(enrolment!.publicKey), atMs, next }];
}

/** First deposit index of a family that is of the present identity. */
export function presentFrom({ retired }: Pick<EdgeLinkState, 'retired'>, family: Family): number {
  return Math.max(0, ...retired.map(({ next }) => next[family] ?? 0));
}

/** The path of an address as callers see it: an origin where its identity is retired. */
export function pathOf(
  { retired }: Pick<EdgeLinkState, 'retired'>,
  {
    derivationPath,
    purpose,
    family,
    index,
    createdAtMs,
  }: Pick<AddressRow, 'derivationPath' | 'purpose' | 'family' | 'index' | 'createdAtMs'>,
): string {
  if (!derivationPath.startsWith('m/')) return derivationPath;
  const owner = retired.find(({ next, atMs }) =>
    purpose === 'deposit' ? index !== null && index < (next[family] ?? 0) : createdAtMs < atMs,
  );
  return owner === undefined || owner.again === true
    ? derivationPath
    : `[${owner.fingerprint}${derivationPath.slice(1)}]`;
}

/** The path of an address that was lent to a payer, as callers see it. payments M3, S17. */
export function lentPathOf(state: Pick<EdgeLinkState, 'retired'>, chain: Chain, derivationPath: string): string {
  const index = Number(/[0-9]+$/.exec(derivationPath)?.[0] ?? 0);
  return pathOf(state, { derivationPath, purpose: 'deposit', family: FAMILY_OF[chain], index, createdAtMs: 0 });
}
