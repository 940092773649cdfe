/**
 * A doorbell between the nodes of one cluster: a node that gets it reads at once who owns what, instead of
 * with its next heartbeat. Nothing of worth travels over it: without Redis a change of owners takes some tenths of a
 * second longer.
 */
import { Redis } from 'ioredis';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';

const CHANNEL = 'flock:owners';
const RECONNECT: Backoff = { firstMs: 50, mostMs: 2_000 };
const CONNECT_MS = 2_000;

export interface OpenDoorbell {
  ring(): void;
  onRing(look: () => void): void;
}

/** Rings over Redis; over nothing where there is no URL. */
export function openDoorbell(
  url: string | undefined,
  later: (name: string, limitMs: number, stop: () => Promise<unknown>) => void,
): OpenDoorbell {
  if (url === undefined) return { ring: () => undefined, onRing: () => undefined };
  const open = () => {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_MS,
      retryStrategy: (tries) => backoffMs(tries, RECONNECT),
    });
    redis.on('error', () => undefined); // a Redis that is away is noticed by nobody here
    return redis;
  };
  const sender = open(),
    receiver = open();
  later('doorbell', 100, async () => {
    sender.disconnect();
    receiver.disconnect();
  });
  return {
    ring: () => void sender.publish(CHANNEL, '').catch(() => undefined),
    onRing(look) {
      receiver.on('ready', () => void receiver.subscribe(CHANNEL).catch(() => undefined));
      if (receiver.status === 'ready') void receiver.subscribe(CHANNEL).catch(() => undefined);
      receiver.on('message', look);
    },
  };
}
