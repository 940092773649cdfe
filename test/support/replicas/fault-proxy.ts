/** A TCP proxy between one edge and the cloud that cuts, holds and delays what passes, as networks do. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** `open` passes · `cut` resets every connection and takes none · `hole` takes connections and passes nothing. */
export type ProxyMode = 'open' | 'cut' | 'hole';

interface Pair {
  readonly inner: Socket;
  readonly outer: Socket;
}

export class FaultProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #target: { readonly host: string; readonly port: number };
  #mode: ProxyMode = 'open';
  /** Each chunk waits so long, in order. Milliseconds. */
  delayMs = 0;

  constructor(targetUrl: string) {
    const { hostname, port } = new URL(targetUrl);
    this.#target = { host: hostname, port: Number(port) };
    this.#server = createServer((inner) => this.#accept(inner));
  }

  static async start(targetUrl: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetUrl);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on it leads elsewhere: what there is is reset. */
  leadTo(targetUrl: string): void {
    const { hostname, port } = new URL(targetUrl);
    this.#target = { host: hostname, port: Number(port) };
    this.#reset();
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  set mode(mode: ProxyMode) {
    const before = this.#mode;
    this.#mode = mode;
    // What a hole held is lost with its connections: nobody knows whether it had arrived.
    if (mode === 'cut' || (mode === 'open' && before === 'hole')) this.#reset();
    if (mode === 'hole') for (const { inner, outer } of this.#pairs) [inner, outer].forEach((socket) => socket.pause());
  }

  async close(): Promise<void> {
    this.#reset();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #reset(): void {
    for (const { inner, outer } of this.#pairs) [inner, outer].forEach((socket) => socket.destroy());
    this.#pairs.clear();
  }

  #accept(inner: Socket): void {
    if (this.#mode === 'cut') return void inner.destroy();
    const outer = connect(this.#target);
    const pair = { inner, outer };
    this.#pairs.add(pair);
    this.#pass(inner, outer);
    this.#pass(outer, inner);
    const end = () => {
      this.#pairs.delete(pair);
      inner.destroy();
      outer.destroy();
    };
    for (const socket of [inner, outer]) socket.on('error', () => undefined).once('close', end);
    if (this.#mode === 'hole') [inner, outer].forEach((socket) => socket.pause());
  }

  #pass(from: Socket, to: Socket): void {
    let last: Promise<void> = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      const { delayMs } = this;
      last = last.then(async () => {
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (!to.destroyed) to.write(chunk);
      });
    });
  }
}
