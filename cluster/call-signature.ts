/**
 * How a call between nodes is authenticated: a code under the cluster's secret over everything that it says, the answer
 * likewise. A call is good for a few seconds and once: a node remembers the ones that it took for as long. Its head
 * names its receiver and the digest of its body, so that it is verified before the body is read.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Of the messages between nodes: the version that this release says of itself, and those that it takes. A new version
 * is taken for one release before a node says that it speaks it, so that a release runs beside the one before it and
 * the one after it, and goes back. Who says that it takes a newer one is called in that one at once.
 *
 *   1  the code is over the whole call, which names no receiver
 *   2  the code is over the head, which names the receiver and the digest of the body
 */
export const CLUSTER_PROTOCOL = 1;
export const PROTOCOLS_TAKEN: readonly number[] = [1, 2];

/** Clocks of two nodes may differ by so much; what is older was replayed or lay around. */
export const CLOCK_SKEW_MS_MAX = 5_000;

/** Header of a call and of its answer. */
export const CALL_HEADER = 'flock-call';

export interface CallHead {
  readonly protocol: number;
  readonly node: string;
  /** The node that it is for; null in version 1. */
  readonly to: string | null;
  readonly atMs: number;
  /** Of this very call: a repetition has another one. */
  readonly nonce: string;
}

export interface Call {
  readonly head: CallHead;
  /** SHA-256 of the body, as the head says; null in version 1. */
  readonly digest: string | null;
  readonly code: Buffer;
}

export type CallFault = 'malformed' | 'protocol' | 'secret' | 'receiver' | 'clock' | 'replayed';

const SEPARATOR = '\n';
const textOf = ({ protocol, node, to, atMs, nonce }: CallHead, path: string, digest: string): string =>
  ['flock call', protocol, node, ...(to === null ? [] : [to]), atMs, nonce, 'POST', path, digest].join(SEPARATOR);
const codeOf = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest();

export const newNonce = (): string => randomBytes(12).toString('hex');
export const digestOf = (body: string): string => hash('sha256', body, 'hex');

/** The header of a call: its head, from version 2 on the digest of its body, and its code. */
export function signCall(secret: string, head: CallHead, path: string, body: string): string {
  const digest = digestOf(body),
    code = codeOf(secret, textOf(head, path, digest)).toString('hex');
  const { protocol, node, to, atMs, nonce } = head;
  return to === null
    ? [protocol, encodeURIComponent(node), atMs, nonce, code].join(';')
    : [protocol, encodeURIComponent(node), encodeURIComponent(to), atMs, nonce, digest, code].join(';');
}

const FORM =
  /^(?<protocol>\d{1,6});(?<node>[^;]{1,400});(?:(?<to>[^;]{1,400});)?(?<at>\d{1,16});(?<nonce>[0-9a-f]{24});(?:(?<digest>[0-9a-f]{64});)?(?<code>[0-9a-f]{64})$/;

/** What a header says, of which nothing is verified. */
export function readCall(header: string | undefined): Call | 'malformed' | 'protocol' {
  const said = FORM.exec(header ?? '')?.groups;
  if (said === undefined) return 'malformed';
  const protocol = Number(said['protocol']),
    { to, digest } = said;
  if (!PROTOCOLS_TAKEN.includes(protocol)) return 'protocol';
  if ((to === undefined) !== (protocol === 1) || (digest === undefined) !== (protocol === 1)) return 'malformed';
  return {
    head: {
      protocol,
      node: decoded(said['node']!),
      to: to === undefined ? null : decoded(to),
      atMs: Number(said['at']),
      nonce: said['nonce']!,
    },
    digest: digest ?? null,
    code: Buffer.from(said['code']!, 'hex'),
  };
}

/** Whether the code of a call holds under one of the secrets. */
export function isCodeGood(secrets: readonly string[], { head, code }: Call, path: string, digest: string): boolean {
  const text = textOf(head, path, digest);
  return secrets.some((secret) => timingSafeEqual(codeOf(secret, text), code));
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
