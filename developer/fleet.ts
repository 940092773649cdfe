/** Several cloud nodes on one machine: what each is given, and the one address before them. */
import { startBalancer } from './balancer.ts';
import type { Child } from './children.ts';
import { developerRedis } from './redis.ts';

export interface Fleet {
  /** Settings of every node. */
  readonly env: Readonly<Record<string, string>>;
  /** The address before them. */
  readonly url: string;
  /** About Redis, for people. */
  readonly words: string;
  readonly nodes: ReadonlyMap<string, Child>;
  /** From now on requests reach this node, until it ends. */
  join(name: string, child: Child, port: number): void;
  stop(): Promise<void>;
}

/** Opens the address. `secret` is what the nodes know of each other. */
export async function openFleet(port: number, secret: string, leaseSeconds: number): Promise<Fleet> {
  const nodes = new Map<string, Child>();
  const ports = new Map<string, number>();
  const balancer = await startBalancer(port, () => [...ports.values()]);
  const redis = await developerRedis(process.env);
  const url = `http://127.0.0.1:${balancer.port}`;
  return {
    url,
    words: redis.words,
    nodes,
    env: {
      CLUSTER_SECRET: secret,
      INTERNAL_PORT: '0',
      NODE_LEASE_SECONDS: String(leaseSeconds),
      CLOUD_PORT: '0',
      PUBLIC_URL: url,
      ...(redis.url === null ? {} : { REDIS_URL: redis.url }),
    },
    join(name, child, at) {
      nodes.set(name, child);
      ports.set(name, at);
      void child.exited.then(() => {
        if (nodes.get(name) !== child) return;
        nodes.delete(name);
        ports.delete(name);
      });
    },
    async stop() {
      await balancer.close();
      redis.stop();
    },
  };
}
