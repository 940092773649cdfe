/**
 * A caller as a balancer is one: it holds one connection open to each node, sends each request once, and goes on to the
 * next node only where nothing was sent, since nobody listens. Whatever else goes wrong is the caller's to see.
 */
import { Agent, fetch as fetchBy } from 'undici';

export interface Holding {
  readonly fetch: typeof fetch;
  /** How often nobody listened at a node. */
  readonly refused: () => number;
  close(): Promise<void>;
}

const REFUSED = new Set(['ECONNREFUSED']);
const RESET = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

/**
 * `urls` may change between requests. `mayReset`: whether a node is known to close connections with a request on them
 * when it stops; what was sent to it then is sent to the next one, so that it has to have a key. Rejects as fetch does.
 */
export function holdingClient(
  urls: () => readonly string[],
  mayReset: (url: string) => boolean = () => false,
): Holding {
  const agents = new Map<string, Agent>();
  let refused = 0;
  const agentOf = (url: string): Agent => {
    const agent = agents.get(url) ?? new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 30_000 });
    agents.set(url, agent);
    return agent;
  };
  const send = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(input));
    for (let at = 0; ; at += 1) {
      const url = urls()[at % urls().length]!;
      try {
        const answer = await fetchBy(`${url}${pathname}${search}`, { ...(init as object), dispatcher: agentOf(url) });
        return answer as unknown as Response;
      } catch (error) {
        const { code } = ((error as Error).cause ?? {}) as { code?: string };
        if (!REFUSED.has(code ?? '') && !(RESET.has(code ?? '') && mayReset(url))) throw error;
        refused += 1;
      }
    }
  };
  return {
    fetch: send as typeof fetch,
    refused: () => refused,
    close: async () => void (await Promise.all([...agents.values()].map((agent) => agent.destroy()))),
  };
}
