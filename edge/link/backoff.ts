/** Pauses between tries. Pure: the random number comes in. */

export interface BackoffSettings {
  readonly firstMs: number;
  readonly capMs: number;
}

/** Pause before try number `tries + 1`: doubled each time up to the cap, then shortened by up to half at random. */
export function backoffMs(tries: number, { firstMs, capMs }: BackoffSettings, random: number): number {
  const fullMs = Math.min(capMs, firstMs * 2 ** Math.min(tries, 30));
  return Math.ceil(fullMs * (1 - random / 2));
}
