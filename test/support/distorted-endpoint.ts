/** Endpoints that answer as bad nodes do, made of a good one. */
import type { Endpoint } from '../../chains/chain.ts';

interface Request {
  id: number;
  method: string;
  params: unknown[];
}
export interface Answer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string };
}
/** Changes a request before the node sees it, or answers it; undefined leaves it. */
export type BeforeCall = (request: Request) => Request | Answer | undefined;
/** Changes an answer; undefined leaves it. */
export type AfterCall = (request: Request, answer: Answer) => Answer | undefined;

/** The same node, seen through somebody who changes requests or answers; single calls and batches. */
export function distorted(
  endpoint: Endpoint,
  name: string,
  change: { before?: BeforeCall; after?: AfterCall },
): Endpoint {
  const one = async (request: Request): Promise<Answer> => {
    const sent = change.before?.(request) ?? request;
    if (!('method' in sent)) return sent;
    const { text } = await endpoint.request({
      method: 'POST',
      path: '',
      body: JSON.stringify({ jsonrpc: '2.0', ...sent }),
    });
    const answer = JSON.parse(text) as Answer;
    return change.after?.(request, answer) ?? answer;
  };
  return {
    name,
    request: async ({ body }) => {
      const parsed = JSON.parse(body!) as Request | Request[];
      const answers = Array.isArray(parsed) ? await Promise.all(parsed.map(one)) : await one(parsed);
      return { status: 200, headers: {}, text: JSON.stringify(answers) };
    },
  };
}

/** A node that stands still at a height: it knows nothing above, and its `latest` is that block. */
export function stuckAt(endpoint: Endpoint, name: string, height: () => number): Endpoint {
  const hex = () => `0x${height().toString(16)}`;
  return distorted(endpoint, name, {
    before: ({ id, method, params }) => {
      if (method === 'eth_sendRawTransaction') return undefined;
      const asked = params.find((param) => typeof param === 'string' && /^0x[0-9a-f]{1,12}$/i.test(param));
      if (asked !== undefined && Number(asked) > height()) return { id, result: null };
      return { id, method, params: params.map((param) => (param === 'latest' || param === 'pending' ? hex() : param)) };
    },
    after: ({ id, method }, { result }) => {
      const above = (value: unknown) => Number((value as { blockNumber?: string } | null)?.blockNumber ?? 0) > height();
      if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash')
        return above(result) ? { id, result: null } : undefined;
      if (method === 'eth_getBlockReceipts')
        return Array.isArray(result) && result.some(above) ? { id, result: null } : undefined;
      return undefined;
    },
  });
}

/** A node whose log index is empty: blocks and receipts are there, logs are not. `blooms`: also of the receipts. */
export function withoutLogs(endpoint: Endpoint, name: string, blooms: 'kept' | 'cleared'): Endpoint {
  const strip = (receipt: object) => ({
    ...receipt,
    logs: [],
    ...(blooms === 'cleared' ? { logsBloom: `0x${'0'.repeat(512)}` } : {}),
  });
  return distorted(endpoint, name, {
    after: ({ id, method }, { result }) => {
      if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return { id, result: result.map(strip) };
      if (method === 'eth_getTransactionReceipt' && result !== null) return { id, result: strip(result as object) };
      return method === 'eth_getLogs' ? { id, result: [] } : undefined;
    },
  });
}

/** A node that has none of the methods. */
export function lacking(endpoint: Endpoint, name: string, ...methods: string[]): Endpoint {
  return distorted(endpoint, name, {
    before: ({ id, method }) =>
      methods.includes(method)
        ? { id, error: { code: -32_601, message: `the method ${method} does not exist/is not available` } }
        : undefined,
  });
}

/** A node that answers one method with an error. */
export function failing(
  endpoint: Endpoint,
  name: string,
  method: string,
  error: { code: number; message: string },
): Endpoint {
  return distorted(endpoint, name, {
    before: (request) => (request.method === method ? { id: request.id, error } : undefined),
  });
}
