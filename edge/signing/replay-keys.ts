/**
 * What a payload uses up on its chain (nonce, sequence, outpoints), and when one payload keeps another from landing.
 * Only such a payload may take the place of one that may be signed already. G27.
 */
import type { ReplayKey, Unsigned } from '../../chains/chain.ts';

/** What a payload uses up, one text each: two payloads that exclude each other share at least one of them. */
export function replayKeyTexts(key: ReplayKey): string[] {
  return (key.kind === 'outpoints' ? key.value : [key.value]).map((value) => `${key.kind}:${value}`);
}

/**
 * Whether a new version excludes every one before it on the ledger: it keeps the counter, or every outpoint, of the
 * known one, so that all versions share them. A payload that only expires excludes nothing; there its expiry is what is
 * held.
 */
export function keepsReplayKey(next: ReplayKey, before: ReplayKey): boolean {
  if (before.kind === 'expiry') return next.kind === 'expiry';
  const kept = new Set(replayKeyTexts(next));
  return replayKeyTexts(before).every((key) => kept.has(key));
}

/**
 * Whether a version keeps the one before it from landing. What only expires keeps nothing from it but its own bytes.
 * found F13.
 */
export function excludes(next: Unsigned, before: Unsigned): boolean {
  return before.replayKey.kind === 'expiry'
    ? next.payload === before.payload
    : keepsReplayKey(next.replayKey, before.replayKey);
}

/** Either may be the later version: an older record arrives late. */
export function excludeEachOther(left: Unsigned, right: Unsigned): boolean {
  return excludes(left, right) || excludes(right, left);
}
