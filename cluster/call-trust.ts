/** How a node signs its calls and judges those of others. */
import {
  CLUSTER_PROTOCOL,
  newNonce,
  isAnswerGood,
  signAnswer,
  signCall,
  TakenCalls,
  verifyCall,
  type CallFault,
  type CallHead,
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

const METHOD = 'POST';

export class CallTrust {
  readonly protocol = CLUSTER_PROTOCOL;
  readonly #deps: CallTrustDeps;
  readonly #taken = new TakenCalls();
  readonly #refused = new Map<CallFault, number>();

  constructor(deps: CallTrustDeps) {
    this.#deps = deps;
  }

  /** The header of a new call, and the nonce that its answer is bound to. */
  head(path: string, body: string): { header: string; nonce: string } {
    const { nodeId, secrets, nowMs } = this.#deps;
    const nonce = newNonce();
    const head: CallHead = { protocol: CLUSTER_PROTOCOL, node: nodeId, atMs: nowMs(), nonce };
    return { header: signCall(secrets[0]!, head, METHOD, path, body), nonce };
  }

  sign(path: string, body: string): string {
    return this.head(path, body).header;
  }

  /** The nonce of a call that is good and new, or what is wrong with it. */
  judge(header: string | undefined, path: string, body: string): { nonce: string } | CallFault {
    const { secrets, nowMs, elapsedMs, onRefused } = this.#deps;
    const head = verifyCall(secrets, header, { method: METHOD, path, body, nowMs: nowMs() });
    const fault = typeof head === 'string' ? head : this.#taken.take(head.nonce, elapsedMs()) ? null : 'replayed';
    if (typeof head !== 'string' && fault === null) return { nonce: head.nonce };
    this.#refused.set(fault!, (this.#refused.get(fault!) ?? 0) + 1);
    onRefused?.(fault!);
    return fault!;
  }

  verify(header: string, path: string, body: string): string | null {
    const judged = this.judge(header, path, body);
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
