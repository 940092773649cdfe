/** Payments over the wire: links, sessions and simulated transfers of a sandbox account. */
import { jsonOf, raw, type RawAnswer, type TestAccountKey, type TestCloud } from './gateway.ts';

type Asks = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<RawAnswer>;

/** Requests of a merchant. */
export const merchant =
  (cloud: Pick<TestCloud, 'url'>, { apiKey }: TestAccountKey): Asks =>
  (method, path, body, headers = {}) =>
    raw(cloud.url, method, path, {
      headers: jsonOf(apiKey, headers),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

/** Requests of a payer, who has no credential. */
export const payer =
  (cloud: Pick<TestCloud, 'url'>): Asks =>
  (method, path, body, headers = {}) =>
    raw(cloud.url, method, path, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

export const FIXED = { mode: 'fixed', chain: 'eth', asset: 'USDC', amount: '25', title: 'Order 1001' };
export const DONATION = { mode: 'donation', chain: 'eth', asset: 'ETH', thresholdAmount: '5' };
