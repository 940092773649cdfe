/**
 * Answers of a node kept for later: a recorder that wraps a live endpoint, and an endpoint that gives the recorded
 * answers back. Requests are recognised by method, path and body, so clients number their calls from one.
 */
import { ChainUnavailable, type Endpoint, type HttpReply } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly reply: HttpReply;
}

type Call = Parameters<Endpoint['request']>[0];

const keyOf = (method: string, path: string, body: string | null) => `${method} ${path}\n${body ?? ''}`;

/** The same endpoint, and every exchange that it answered, in order. Failures are not recorded. */
export function recordAnswers(endpoint: Endpoint): { endpoint: Endpoint; exchanges: readonly Exchange[] } {
  const exchanges: Exchange[] = [];
  const request = async (call: Call) => {
    const reply = await endpoint.request(call);
    exchanges.push({ method: call.method, path: call.path, body: call.body ?? null, reply });
    return reply;
  };
  return { endpoint: { name: endpoint.name, request }, exchanges };
}

/**
 * An endpoint that answers as recorded: equal requests get their answers in the order of recording, the last one again
 * and again. Throws: ChainUnavailable for a request that was never recorded.
 */
export function replayAnswers(chain: Chain, name: string, exchanges: readonly Exchange[]): Endpoint {
  const answers = new Map<string, HttpReply[]>();
  for (const { method, path, body, reply } of exchanges) {
    const key = keyOf(method, path, body);
    answers.set(key, [...(answers.get(key) ?? []), reply]);
  }
  const request = async ({ method, path, body }: Call): Promise<HttpReply> => {
    const left = answers.get(keyOf(method, path, body ?? null));
    if (left === undefined) throw new ChainUnavailable(chain, `not recorded: ${method} ${path}`);
    return left.length > 1 ? left.shift()! : left[0]!;
  };
  return { name, request };
}
