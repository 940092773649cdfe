/** How a node signs its calls and judges those of others. */
import type { Member } from '../model/ports/cluster-store.ts';
import {
  CLOCK_SKEW_MS_MAX,
  digestOf,
  isAnswerGood,
  isCodeGood,
  newNonce,
  readCall,
  signAnswer,
  signCall,
  TakenCalls,
  type Call,
  type CallFault,
} from './call-signature.ts';

export interface CallTrustDeps {
  readonly nodeId: string;
  /** The first one signs, each verifies. */
  readonly secrets: readonly string[];
  readonly nowMs: () => number;
  /** Never steps. */
  readonly elapsedMs: () => number;
  /** Counts a call that was refused. */
  readonly onRefused?: (fault: CallFault) => void;
}

const takesBound = ({ about }: Member): boolean => about?.protocolsTaken?.includes(2) === true;

export class CallTrust {
  readonly #deps: CallTrustDeps;
  readonly #taken = new TakenCalls();
  readonly #refused = new Map<CallFault, number>();
  /** Nodes that take calls which name their receiver, by the URL at which they are reached. */
  #bound: ReadonlyMap<string, string> = new Map();
  /** False when every node takes such calls: then no other call is taken. */
  #isOlderThere = true;

  constructor(deps: CallTrustDeps) {
    this.#deps = deps;
  }

  /** The living nodes. Of two at one URL the younger one listens there. */
  know(members: readonly Member[]): void {
    const reached = members.filter(({ url }) => url !== null).toSorted((a, b) => a.sinceMs - b.sinceMs);
    this.#bound = new Map(reached.filter(takesBound).map(({ url, id }) => [url!, id]));
    this.#isOlderThere = !reached.every(takesBound);
  }

  /** The header of a new call to the node at a URL, and the nonce that its answer is bound to. */
  head(url: string, path: string, body: string): { header: string; nonce: string } {
    const { nodeId, secrets, nowMs } = this.#deps;
    const nonce = newNonce(),
      to = this.#bound.get(url) ?? null;
    const head = { protocol: to === null ? 1 : 2, node: nodeId, to, atMs: nowMs(), nonce };
    return { header: signCall(secrets[0]!, head, path, body), nonce };
  }

  sign(url: string, path: string, body: string): string {
    return this.head(url, path, body).header;
  }

  /** A call whose body was not read yet, or what is wrong with it. */
  read(header: string | undefined, path: string): Call | CallFault {
    const call = this.#read(header, path);
    return typeof call === 'string' ? this.#refuse(call) : call;
  }

  /** The nonce of a call that was read, and is good and new, or what is wrong with it. */
  judge(call: Call, path: string, body: string): { nonce: string } | CallFault {
    const digest = digestOf(body),
      { nonce } = call.head;
    const isSame = call.digest === null ? isCodeGood(this.#deps.secrets, call, path, digest) : call.digest === digest;
    if (!isSame) return this.#refuse('secret');
    // A body may take its time.
    if (this.#isLate(call)) return this.#refuse('clock');
    return this.#taken.take(nonce, this.#deps.elapsedMs()) ? { nonce } : this.#refuse('replayed');
  }

  /** Of version 1 the code can only be verified with the body. */
  #read(header: string | undefined, path: string): Call | CallFault {
    const { secrets, nodeId } = this.#deps;
    const call = readCall(header);
    if (typeof call === 'string') return call;
    const { to } = call.head;
    if (call.digest === null && !this.#isOlderThere) return 'protocol';
    if (call.digest !== null && !isCodeGood(secrets, call, path, call.digest)) return 'secret';
    if (to !== null && to !== nodeId) return 'receiver';
    return this.#isLate(call) ? 'clock' : call;
  }

  #isLate({ head: { atMs } }: Call): boolean {
    return Math.abs(this.#deps.nowMs() - atMs) > CLOCK_SKEW_MS_MAX;
  }

  #refuse(fault: CallFault): CallFault {
    this.#refused.set(fault, (this.#refused.get(fault) ?? 0) + 1);
    this.#deps.onRefused?.(fault);
    return fault;
  }

  verify(header: string, path: string, body: string): string | null {
    const call = this.read(header, path);
    if (typeof call === 'string') return call;
    const judged = this.judge(call, path, body);
    return typeof judged === 'string' ? judged : null;
  }

  /** The code of an answer. */
  answerCode(nonce: string, status: number, body: string): string {
    return signAnswer(this.#deps.secrets[0]!, nonce, status, body);
  }

  isAnswerGood(code: string | undefined, answer: { nonce: string; status: number; body: string }): boolean {
    return isAnswerGood(this.#deps.secrets, code, answer);
  }

  /** Calls that were refused, by reason. */
  get refused(): ReadonlyMap<CallFault, number> {
    return this.#refused;
  }
}
