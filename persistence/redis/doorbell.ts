/**
 * A doorbell between the nodes of one cluster: who hears it looks at once who owns what, instead of at its next
 * heartbeat. Nothing of worth travels over it, and without Redis nothing is lost but some tenths of a second.
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
  const rings = open(),
    hears = open();
  later('doorbell', 100, async () => {
    rings.disconnect();
    hears.disconnect();
  });
  return {
    ring: () => void rings.publish(CHANNEL, '').catch(() => undefined),
    onRing(look) {
      hears.on('ready', () => void hears.subscribe(CHANNEL).catch(() => undefined));
      if (hears.status === 'ready') void hears.subscribe(CHANNEL).catch(() => undefined);
      hears.on('message', look);
    },
  };
}
