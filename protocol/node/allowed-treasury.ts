/**
 * An entry of an edge's allow-list of treasuries as it is said to the cloud: a digest, by which only who knows the
 * address finds it there. Treasury W3, W5.
 */
import { createHash } from 'node:crypto';
import type { Chain } from '../slugs.ts';

const HEX_DIGITS = 16;

export function allowedTreasury(chain: Chain, address: string, tag: string | null): string {
  const text = `flock-treasury\n${chain}\n${address}\n${tag ?? ''}`;
  return createHash('sha256').update(text).digest('hex').slice(0, HEX_DIGITS);
}
