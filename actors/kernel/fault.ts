/** What went wrong in an actor, safe to show; and the vocabulary of restarting. */
import { STORE_AWAY } from '../../model/entity.ts';

/** A fault as the admin endpoints show it: never a secret, never a stack. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

/** A fault that the kernel itself found. */
export class KernelFault extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'KernelFault';
    this.code = code;
  }
}

/** Codes of faults that are the store's absence and not the actor's. */
const NOT_THE_ACTORS: ReadonlySet<unknown> = new Set([STORE_AWAY, 'store_timed_out']);

/** Whether a fault is the store's absence and not the actor's. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof Error && NOT_THE_ACTORS.has((error as { code?: unknown }).code);
}

/** What a restart policy says after a fault. `faultsMs` is the history that the next verdict needs. */
export type RestartVerdict =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly faultsMs: readonly number[] }
  /** `retryAfterMs` null: only someone's `restart` brings it back. */
  | { readonly kind: 'give_up'; readonly retryAfterMs: number | null; readonly faultsMs: readonly number[] };

/** Pure: from the monotonic instants of earlier faults, the instant of this one, and a number in [0, 1). */
export type RestartPolicy = (faultsMs: readonly number[], nowMs: number, random: number) => RestartVerdict;

/** Where the kernel's own lines go; pino's shape. */
export interface KernelLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

const MESSAGE_LENGTH_MAX = 200;
/** Longer texts are cut before they are read, so that a megabyte of node answer costs nothing. */
const READ_LENGTH_MAX = 2_000;

// A run of 20 or more token characters with a digit and a letter covers extended and other keys, seeds, API keys,
// webhook secrets, TOTP secrets, hashes and signatures; constraint and function names have no digit and stay.
const TOKEN = /[A-Za-z0-9+/=_-]{20,}/g;
const URL_USER = /:\/\/[^\s/@]+@/g;
// Twelve or more short words in a row, numbered or quoted or not: a recovery phrase, whichever way it is written.
const PHRASE = /(?:[a-z]{3,8}[^a-z]{1,6}){11,}[a-z]{3,8}/gi;

/** The text without what looks like a key, a credential or a phrase; at most 200 characters. */
export function withoutSecrets(text: string): string {
  const clean = text
    .slice(0, READ_LENGTH_MAX)
    .replace(URL_USER, '://…@')
    .replace(PHRASE, '…')
    .replace(TOKEN, (token) => (/[0-9]/.test(token) && /[A-Za-z]/.test(token) ? '…' : token));
  return clean.length > MESSAGE_LENGTH_MAX ? `${clean.slice(0, MESSAGE_LENGTH_MAX)}…` : clean;
}

/** The code is the error's own `code`, else its name. */
export function faultOf(error: unknown, atMs: number): Fault {
  if (!(error instanceof Error)) return { code: 'thrown_value', message: withoutSecrets(String(error)), atMs };
  const code = (error as { code?: unknown }).code;
  const name = typeof code === 'string' ? code : error.name;
  return { code: withoutSecrets(name), message: withoutSecrets(error.message), atMs };
}
