/**
 * A proxy in front of anvil, which deadlocks when it makes a block while it traces one with a tracer (`debug_trace…`;
 * seen with 1.7.1). All calls come through here: one that changes the chain waits until no trace is running, and traces
 * wait until it is done. For that anvil makes no block by itself; where it should, the proxy asks for one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';

export interface ProxyOptions {
  /** Where the node listens. */
  readonly node: string;
  /** Makes a block after each call that sends a transaction. */
  readonly automine: boolean;
  /** Makes a block each time so many seconds have passed. */
  readonly blockSeconds?: number | undefined;
}

export interface AnvilProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Far above what any call takes. */
const ANSWER_MS = 120_000;
const TRACES = /"method"\s*:\s*"debug_trace/;
const CHANGES = /"method"\s*:\s*"(?:anvil|evm|hardhat|eth_send)/;
const SENDS = /"method"\s*:\s*"eth_send/;
const MINE = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'evm_mine', params: [] });

/** Any number of traces, or one change: a change that waits goes before traces that come after it. */
export class TracesOrOneChange {
  #changes: Promise<unknown> = Promise.resolve();
  readonly #traces = new Set<Promise<unknown>>();

  async trace<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#changes.then(work);
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#traces.add(ended);
    void ended.then(() => this.#traces.delete(ended));
    return running;
  }

  async change<T>(work: () => Promise<T>): Promise<T> {
    const running = Promise.all([this.#changes, ...this.#traces]).then(work);
    this.#changes = running.then(
      () => undefined,
      () => undefined,
    );
    return running;
  }
}

/** Starts a proxy on a free loopback port. */
export async function openAnvilProxy({ node, automine, blockSeconds }: ProxyOptions): Promise<AnvilProxy> {
  // A connection for each call: a busy node closes idle ones just when they are used again.
  const dispatcher = new Agent({ pipelining: 0 });
  const order = new TracesOrOneChange();
  const ask = async (body: Buffer | string): Promise<{ status: number; answer: Buffer }> => {
    const reply = await request(node, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      dispatcher,
      headersTimeout: ANSWER_MS,
      body,
    });
    return { status: reply.statusCode, answer: Buffer.from(await reply.body.arrayBuffer()) };
  };
  const changed = async (body: Buffer, text: string) => {
    const answered = await ask(body);
    if (automine && SENDS.test(text) && !answered.answer.includes('"error"')) await ask(MINE);
    return answered;
  };
  const answer = async (asked: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = await buffer(asked),
      text = body.toString('latin1');
    const { status, answer } = await (CHANGES.test(text)
      ? order.change(() => changed(body, text))
      : TRACES.test(text)
        ? order.trace(() => ask(body))
        : ask(body));
    reply.writeHead(status, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
  };
  const server = createServer((asked, reply) => {
    answer(asked, reply).catch((error: unknown) => {
      if (!reply.headersSent) reply.writeHead(502).end(`anvil does not answer: ${String(error)}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const clock =
    blockSeconds === undefined
      ? undefined
      : setInterval(() => void order.change(() => ask(MINE)).catch(() => undefined), blockSeconds * 1000);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      clearInterval(clock);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await dispatcher.destroy();
    },
  };
}
