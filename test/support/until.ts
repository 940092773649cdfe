/** Waiting for a condition instead of a time. */

const ROUNDS_MAX = 20_000;

/** One round of the event loop: what was ready has run. */
export function round(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when the condition holds. Throws: with its name after 20,000 rounds of the event loop. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    if (holds()) return;
    await round();
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Some rounds of the event loop, for showing that something does not happen. */
export async function rounds(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await round();
}
