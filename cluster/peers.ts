/** Calls to other nodes, over connections that stay open. */
import { Pool } from 'undici';
import { messageOf, messageText } from '../protocol/bigint-json.ts';
import { CALL_HEADER } from './call-signature.ts';
import type { CallTrust } from './call-trust.ts';

const CONNECTIONS = 8;
const CONNECT_MS = 1_000;

/** What a call came to. */
export type Called =
  /** The node did it, and says what came of it. */
  | { readonly kind: 'answered'; readonly reply: unknown }
  /** The node does not own what was asked for: nothing was done. */
  | { readonly kind: 'moved' }
  /** The node refused the call itself, or was never reached: nothing was done. */
  | { readonly kind: 'not_taken'; readonly reason: string }
  /** No answer, or one that is not the node's: it may have done it. */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface PeersDeps {
  readonly trust: CallTrust;
}

export class Peers {
  readonly #deps: PeersDeps;
  readonly #pools = new Map<string, Pool>();

  constructor(deps: PeersDeps) {
    this.#deps = deps;
  }

  /** One call. Never rejects. Limit: `timeoutMs`. */
  async call(url: string, path: string, message: object, timeoutMs: number): Promise<Called> {
    const { trust } = this.#deps;
    const body = messageText(message);
    const { header, nonce } = trust.head(url, path, body);
    try {
      const {
        statusCode,
        headers,
        body: answered,
      } = await this.#poolOf(url).request({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          [CALL_HEADER]: header,
        },
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      const text = await answered.text();
      const code = headers[CALL_HEADER]?.toString();
      if (!trust.isAnswerGood(code, { nonce, status: statusCode, body: text }))
        return { kind: 'unknown', reason: `an answer ${statusCode} that is not the node's` };
      if (statusCode === 421) return { kind: 'moved' };
      if (statusCode !== 200) return { kind: 'not_taken', reason: text };
      return { kind: 'answered', reply: messageOf(text) };
    } catch (error) {
      const { code, message: why } = error as { code?: string; message: string };
      return { kind: isUnsent(code) ? 'not_taken' : 'unknown', reason: code ?? why };
    }
  }

  /** Closes connections to nodes that are gone. */
  keepOnly(urls: ReadonlySet<string>): void {
    for (const [url, pool] of this.#pools) {
      if (urls.has(url)) continue;
      this.#pools.delete(url);
      void pool.close().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy().catch(() => undefined)));
    this.#pools.clear();
  }

  #poolOf(url: string): Pool {
    let pool = this.#pools.get(url);
    if (pool === undefined) {
      pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, connect: { timeout: CONNECT_MS } });
      this.#pools.set(url, pool);
    }
    return pool;
  }
}

/** The call never reached a node. */
const isUnsent = (code: string | undefined): boolean =>
  code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH' || code === 'UND_ERR_CONNECT_TIMEOUT';
