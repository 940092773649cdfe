/**
 * Paths of Solana addresses. Ed25519 has no public child, so the edge derives and the cloud only names the paths.
 * Spec: chains.md 7.1; SLIP-0010, all steps hardened.
 */

/** Indexes from here on would not fit a hardened step. */
const INDEX_MAX = 0x7fff_ffff;

/** Absolute path of deposit address `index`. Throws: RangeError outside [0, 2^31). */
export function depositPath(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX) throw new RangeError('index outside [0, 2^31)');
  return `m/44'/501'/${index}'/0'`;
}

/**
 * The hardened image of `M/1/0` below account 0; `m/44'/501'/1'/0'` would be deposit address 1. Choice: chains.md 7.1.
 */
export const gasTankPath = "m/44'/501'/0'/1'/0'";
