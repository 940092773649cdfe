/**
 * The statement that an edge signs about an address of its merchant, so that a page which pins the edge's key can know
 * the merchant's address from any other. It proves that the holder of the merchant's phrase derived the address as one
 * of its customers'; nothing of an amount, an asset, a link, or whose payment it is. payments E4.
 */
import type { Environment, Family } from './slugs.ts';

/** Families of checkout chains: an EVM address is one on every network. */
export const ATTESTED_FAMILIES = ['btc', 'evm', 'tron'] as const satisfies readonly Family[];
export type AttestedFamily = (typeof ATTESTED_FAMILIES)[number];

const DAY_MS = 86_400_000;
/** How long a statement is good, and how long before its end it is made again. payments E5. */
export const ATTESTATION_MS = 30 * DAY_MS;
export const ATTESTATION_RENEWED_MS = 7 * DAY_MS;
/** Nobody takes a longer one: what is signed once must end. */
export const ATTESTATION_MS_MAX = 31 * DAY_MS;
/** How far the clocks of edge, cloud and payer may be apart: a payer's may be a day wrong. */
export const ATTESTATION_SKEW_MS = DAY_MS;
/** Indexes beyond the highest issued one that have a statement, and below how many it is made for more. payments E5. */
export const ATTESTED_AHEAD = 1_000;
export const ATTESTED_LOW = 200;
/** Statements of one call. */
export const ATTESTATIONS_MAX = 1_000;

export interface Attested {
  readonly environment: Environment;
  readonly family: AttestedFamily;
  /** As it is shown: an EVM one with its checksum. */
  readonly address: string;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly issuedAt: string;
  readonly validUntil: string;
}

/** What is signed: UTF-8 lines. No other text that an identity signs begins so. */
export const attestedText = ({ environment, family, address, issuedAt, validUntil }: Attested): string =>
  ['flock-address-attestation-v1', environment, family, address, issuedAt, validUntil].join('\n');

/** An instant as a statement writes it, in whole seconds. */
export const attestedInstant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** Whether a statement may be believed at an instant, by its dates. */
export function isInItsTime(
  { issuedAt, validUntil }: Pick<Attested, 'issuedAt' | 'validUntil'>,
  nowMs: number,
): boolean {
  const [from, until] = [Date.parse(issuedAt), Date.parse(validUntil)];
  // The text is signed, not the instant: another spelling of it is another statement.
  const isPlain = attestedInstantOrNull(from) === issuedAt && attestedInstantOrNull(until) === validUntil;
  return isPlain && from <= nowMs + ATTESTATION_SKEW_MS && nowMs <= until && until - from <= ATTESTATION_MS_MAX;
}

const attestedInstantOrNull = (ms: number): string | null => (Number.isNaN(ms) ? null : attestedInstant(ms));
