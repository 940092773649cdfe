/**
 * The one place where the cloud opens a URL that a customer named. Console A38:
 *
 *   https, or a host that the operator named (SSO_OIDC_ALLOW) ──▶ each of its addresses is public, or it is such a host
 *   ──▶ one connection to the address that was looked at ──▶ no redirect ──▶ 5 s and 64 kB for the whole answer
 */
import { lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { Agent, fetch as undiciFetch } from 'undici';

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 65_536;

/** Addresses that are nobody's on the internet: own networks, this machine, what is set apart. RFC 6890. */
const CLOSED = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // the host of a machine at Azure, for that machine
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  CLOSED.addSubnet(network, bits, 'ipv4');

/** Of IPv6 the global unicast space is open, without its documentation and tunnels, which hold IPv4 addresses. */
const OPEN6 = new BlockList();
OPEN6.addSubnet('2000::', 3, 'ipv6');
const CLOSED6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  CLOSED6.addSubnet(network, bits, 'ipv6');

/** Whether an address is one of the internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !CLOSED.check(address, 'ipv4');
  return version === 6 && OPEN6.check(address, 'ipv6') && !CLOSED6.check(address, 'ipv6');
}

/** Why a request was not made, or its answer not read. */
export class Guarded extends Error {
  readonly reason: 'address' | 'scheme' | 'redirect' | 'too_large' | 'away';
  constructor(reason: Guarded['reason'], cause?: unknown) {
    super(`not fetched: ${reason}`, { cause });
    this.reason = reason;
  }
}

export type GuardedFetch = (url: string, init?: RequestInit) => Promise<Response>;

/** `allowed`: hosts, with a port where it is no default one, that may be anywhere and without TLS. */
export function createGuardedFetch(allowed: readonly string[]): GuardedFetch {
  const hosts = new Set(allowed);
  /** Every address of a name is looked at, and the connection goes to one of those: a name is not asked twice. */
  const closed = new Agent({
    connect: {
      timeout: TIMEOUT_MS,
      lookup: (hostname, options, done) =>
        lookup(hostname, { ...options, all: true }, (error, found) => {
          if (error !== null) return done(error, []);
          const isOpen = found.length > 0 && found.every(({ address }) => isPublicAddress(address));
          done(isOpen ? null : new Guarded('address'), isOpen ? found : []);
        }),
    },
  });
  const open = new Agent({ connect: { timeout: TIMEOUT_MS } });
  return async (text, init = {}) => {
    const url = new URL(text);
    const isNamed = hosts.has(url.host);
    if (!isNamed && url.protocol !== 'https:') throw new Guarded('scheme');
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (!isNamed && isIP(literal) !== 0 && !isPublicAddress(literal)) throw new Guarded('address');
    try {
      const response = await undiciFetch(text, {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        body: (init.body ?? null) as never,
        redirect: 'manual',
        dispatcher: isNamed ? open : closed,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status >= 300 && response.status < 400) throw new Guarded('redirect');
      const body = await bounded(response.body);
      return new Response(response.status === 204 ? null : body, {
        status: response.status,
        headers: Object.fromEntries(response.headers),
      });
    } catch (error) {
      throw guardedOf(error);
    }
  };
}

async function bounded(stream: AsyncIterable<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream ?? []) {
    bytes += part.length;
    if (bytes > BYTES_MAX) throw new Guarded('too_large');
    parts.push(part);
  }
  return Uint8Array.from(Buffer.concat(parts));
}

/** The refusal of ours that an error comes from, however deep it is. */
function guardedOf(error: unknown): Guarded {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof Guarded) return at;
  return new Guarded('away', error);
}
