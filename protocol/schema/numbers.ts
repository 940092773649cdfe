/**
 * Every number that crosses a border, with both its bounds. A number without bounds is believed whatever it is: a lease
 * of centuries, a range that begins below zero. No other file makes one (`test/tidy/words.test.ts`).
 */
import { z } from 'zod';

const whole = (min: number, max: number) => z.number().int().min(min).max(max);
const SAFE = Number.MAX_SAFE_INTEGER;
/** What a column of 32 bits holds. */
export const INT_MAX = 2_147_483_647;
/** A lease ends at the latest: `EDGE_LEASE_TTL` goes to 600 s. */
export const LEASE_TTL_MS_MAX = 600_000;
/** The largest time limit that may be set for one exchange, milliseconds. */
const TIMEOUT_MS_MAX = 600_000;

/** Within bounds of a caller's own. */
export const between = whole;
/** How many there are. */
export const count = whole(0, SAFE);
/** How many, and there is one. */
export const countFromOne = whole(1, SAFE);
/** How many, in a column of 32 bits, from one: an attempt, an incarnation. */
export const serial = whole(1, INT_MAX);
/** Of a block, slot or ledger. Source: the quickest chain makes ten a second, 3 · 10⁸ a year. */
export const height = whole(0, 1e12);
/** Within a transaction; below zero for native payments of EVM chains. */
export const outputIndex = whole(-SAFE, SAFE);
/** Of a token. Source: ERC-20 `uint8`; the other chains have less. */
export const decimals = whole(0, 255);
/** Of a lease or an ownership. */
export const epoch = whole(0, SAFE);
/** Of an address below its account: what a step that is not hardened holds. */
export const addressIndex = whole(0, INT_MAX);
/** Milliseconds since 1970, to the end of the year 9999: later ones no date and no database reads. */
export const instantMs = whole(0, 253_402_300_799_999);
export const leaseTtlMs = whole(1, LEASE_TTL_MS_MAX);
export const timeoutMs = whole(1, TIMEOUT_MS_MAX);
/** Of an exchange, with fractions. */
export const durationMs = z.number().min(0).max(INT_MAX);
/** From zero; above a hundred where there is more than is needed. */
export const percent = z.number().min(0).max(1e9);
/** 0 where a server's status is none of HTTP's. */
export const statusCode = whole(0, 999);
/** A fact for people, as of a fee; nothing is decided by it. */
export const shown = z.number().min(-SAFE).max(SAFE);
