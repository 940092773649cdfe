/**
 * What is before several nodes of developer mode: one address, behind it whichever node takes the connection. It
 * passes bytes on and looks into none, so that streams and signatures pass as they are.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a port (0: any); `ports` are those of the nodes as they are now, asked in turn. */
export async function startBalancer(port: number, ports: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    open.add(client);
    client.on('close', () => open.delete(client)).on('error', () => undefined);
    const [now, from] = [ports(), turn++];
    const attempt = (tried: number): void => {
      if (tried === now.length) return void client.destroy();
      const node = connect(now[(from + tried) % now.length]!, '127.0.0.1');
      // Nothing was sent yet: the next node may have it.
      const refused = (): void => attempt(tried + 1);
      node.once('error', refused).once('connect', () => {
        node.off('error', refused).on('error', () => client.destroy());
        node.on('close', () => client.destroy());
        client.on('close', () => node.destroy());
        client.pipe(node).pipe(client);
      });
    };
    attempt(0);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
