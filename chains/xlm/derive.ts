/**
 * Paths of Stellar addresses. Ed25519 has no public child, so the edge derives and the cloud only names the paths.
 * Spec: chains.md 9.1; SEP-0005, all steps hardened.
 */

/** Indexes from here on would not fit a hardened step. */
const INDEX_MAX = 0x7fff_ffff;

/** Absolute path of deposit address `index`. Throws: RangeError outside [0, 2^31). */
export function depositPath(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX) throw new RangeError('index outside [0, 2^31)');
  return `m/44'/148'/${index}'`;
}

/** The hardened image of `M/1/0` below account 0. Choice: chains.md 9.1. */
export const gasTankPath = "m/44'/148'/0'/1'/0'";
