/**
 * Answers of a node kept for later: a recorder that wraps a live endpoint, and an endpoint that gives the recorded
 * answers back. Requests are recognised by method, path and body, whatever the numbers of their calls; answers get
 * those.
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

/** Numbers of JSON-RPC calls in a body, in their order. */
const ID = /("jsonrpc":"2\.0","id":)(\d+)/g;
const keyOf = (method: string, path: string, body: string | null) =>
  `${method} ${path}\n${(body ?? '').replace(ID, '$1')}`;

/** The recorded text under the numbers that are asked with now: those of a batch stand in it in any order. */
function renumbered(text: string, recorded: string | null, asked: string | null): string {
  const numbersOf = (body: string | null) => [...(body ?? '').matchAll(ID)].map(([, , id]) => id!);
  const to = new Map(numbersOf(recorded).map((id, i) => [id, numbersOf(asked)[i]!]));
  return to.size === 0
    ? text
    : text.replace(/("id":\s*)(\d+)/g, (whole, name: string, id: string) =>
        to.has(id) ? `${name}${to.get(id)!}` : whole,
      );
}

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
  const answers = new Map<string, { body: string | null; reply: HttpReply }[]>();
  for (const { method, path, body, reply } of exchanges) {
    const key = keyOf(method, path, body);
    answers.set(key, [...(answers.get(key) ?? []), { body, reply }]);
  }
  const request = async ({ method, path, body }: Call): Promise<HttpReply> => {
    const left = answers.get(keyOf(method, path, body ?? null));
    if (left === undefined) throw new ChainUnavailable(chain, `not recorded: ${method} ${path}`);
    const { body: recorded, reply } = left.length > 1 ? left.shift()! : left[0]!;
    return { ...reply, text: renumbered(reply.text, recorded, body ?? null) };
  };
  return { name, request };
}
