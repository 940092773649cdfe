/**
 * How a call between nodes is authenticated: a code under the cluster's secret over everything that it says, the answer
 * likewise. A call is good for a few seconds and once: a node remembers the ones that it took for as long.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Of the messages between nodes: the one that this release sends, and those that it takes. A new version is taken for
 * one release before it is sent, so that a release runs beside the one before it and the one after it, and goes back.
 */
export const CLUSTER_PROTOCOL = 1;
export const PROTOCOLS_TAKEN: readonly number[] = [CLUSTER_PROTOCOL];

/** Clocks of two nodes may differ by so much; what is older was replayed or lay around. */
export const CLOCK_SKEW_MS_MAX = 5_000;

/** Header of a call and of its answer. */
export const CALL_HEADER = 'flock-call';

export interface CallHead {
  readonly protocol: number;
  readonly node: string;
  readonly atMs: number;
  /** Of this very call: a repetition has another one. */
  readonly nonce: string;
}

export type CallFault = 'malformed' | 'protocol' | 'secret' | 'clock' | 'replayed';

const SEPARATOR = '\n';
const textOf = ({ protocol, node, atMs, nonce }: CallHead, method: string, path: string, body: string): string =>
  ['flock call', protocol, node, atMs, nonce, method, path, hash('sha256', body, 'hex')].join(SEPARATOR);
const codeOf = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest();

export const newNonce = (): string => randomBytes(12).toString('hex');

/** The header of a call: its head and its code. */
export function signCall(secret: string, head: CallHead, method: string, path: string, body: string): string {
  const code = codeOf(secret, textOf(head, method, path, body)).toString('hex');
  return [head.protocol, encodeURIComponent(head.node), head.atMs, head.nonce, code].join(';');
}

/**
 * The head of a call whose code holds under one of the secrets, or what is wrong with it. Not whether it came before.
 */
export function verifyCall(
  secrets: readonly string[],
  header: string | undefined,
  request: { readonly method: string; readonly path: string; readonly body: string; readonly nowMs: number },
): CallHead | CallFault {
  const parts = /^(\d{1,6});([^;]{1,400});(\d{1,16});([0-9a-f]{24});([0-9a-f]{64})$/.exec(header ?? '');
  if (parts === null) return 'malformed';
  const [, protocol, node, at, nonce, code] = parts;
  const head: CallHead = { protocol: Number(protocol), node: decoded(node!), atMs: Number(at), nonce: nonce! };
  if (!PROTOCOLS_TAKEN.includes(head.protocol)) return 'protocol';
  const text = textOf(head, request.method, request.path, request.body),
    given = Buffer.from(code!, 'hex');
  if (!secrets.some((secret) => timingSafeEqual(codeOf(secret, text), given))) return 'secret';
  return Math.abs(request.nowMs - head.atMs) > CLOCK_SKEW_MS_MAX ? 'clock' : head;
}

/** The code of an answer: bound to the call that it answers. */
export const signAnswer = (secret: string, nonce: string, status: number, body: string): string =>
  codeOf(secret, ['flock answer', nonce, status, hash('sha256', body, 'hex')].join(SEPARATOR)).toString('hex');

export function isAnswerGood(
  secrets: readonly string[],
  code: string | undefined,
  answer: { readonly nonce: string; readonly status: number; readonly body: string },
): boolean {
  if (!/^[0-9a-f]{64}$/.test(code ?? '')) return false;
  const given = Buffer.from(code!, 'hex');
  return secrets.some((secret) =>
    timingSafeEqual(Buffer.from(signAnswer(secret, answer.nonce, answer.status, answer.body), 'hex'), given),
  );
}

/** That a node knows a secret of the cluster, without showing it. */
export const proofOf = (secret: string, clusterId: string): string =>
  codeOf(secret, ['flock cluster', clusterId].join(SEPARATOR)).toString('hex');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // its code cannot hold
  }
}

/** Nonces of the calls that were taken, for as long as their time is good. */
export class TakenCalls {
  #young = new Set<string>();
  #old = new Set<string>();
  #turnedMs = -Infinity;

  /** False when it was taken before. `elapsedMs` never steps. */
  take(nonce: string, elapsedMs: number): boolean {
    // A call is good from 5 s before to 5 s after its time: what is older than twice that cannot come again.
    if (elapsedMs - this.#turnedMs > 2 * CLOCK_SKEW_MS_MAX) {
      this.#old = elapsedMs - this.#turnedMs > 4 * CLOCK_SKEW_MS_MAX ? new Set() : this.#young;
      this.#young = new Set();
      this.#turnedMs = elapsedMs;
    }
    if (this.#young.has(nonce) || this.#old.has(nonce)) return false;
    this.#young.add(nonce);
    return true;
  }
}
