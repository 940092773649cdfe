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
 * Whether a new version excludes every earlier one on the chain: it keeps the counter, or every outpoint, of the known
 * one, so that all versions share them. A payload that only expires excludes nothing; there only the kind is compared.
 */
export function keepsReplayKey(next: ReplayKey, before: ReplayKey): boolean {
  if (before.kind === 'expiry') return next.kind === 'expiry';
  const kept = new Set(replayKeyTexts(next));
  return replayKeyTexts(before).every((key) => kept.has(key));
}

/**
 * Whether a version keeps its predecessor from landing. Where payloads only expire, only equal bytes do. found F13.
 */
export function excludes(next: Unsigned, before: Unsigned): boolean {
  return before.replayKey.kind === 'expiry'
    ? next.payload === before.payload
    : keepsReplayKey(next.replayKey, before.replayKey);
}

/** Either may be the later version, since an older record may arrive late. */
export function excludeEachOther(left: Unsigned, right: Unsigned): boolean {
  return excludes(left, right) || excludes(right, left);
}
