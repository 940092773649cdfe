/**
 * The address of a client behind trusted proxies. Each proxy appends the peer that it saw to `X-Forwarded-For`, so the
 * header is read from its end, for as long as a proxy of ours wrote it: anybody may have written what comes before
 * it.
 */
import { BlockList, isIP } from 'node:net';

const FAMILY_BITS = { 4: 32, 6: 128 } as const;
const WITH_PORT = /^(?:\[([^\]]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/;
const PREFIX = /^(?:0|[1-9][0-9]{0,2})$/;

type Network = readonly [address: string, bits: number, family: 'ipv4' | 'ipv6'];

function networkOf(text: string): Network | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || (prefix !== undefined && !PREFIX.test(prefix))) return null;
  const most = FAMILY_BITS[version as 4 | 6],
    bits = prefix === undefined ? most : Number(prefix);
  return bits > most ? null : [address, bits, version === 4 ? 'ipv4' : 'ipv6'];
}

/** Address of a name server, with a port where it is no default one. */
export const NAME_SERVER = /^(?:[0-9.]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/** True for an address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return networkOf(text) !== null;
}

/** An address without its port, IPv4 also where it is mapped into IPv6; null for any other text. */
function addressOf(text: string): string | null {
  const match = WITH_PORT.exec(text);
  const bare = match?.[1] ?? match?.[2] ?? text;
  const plain = /^::ffff:(?=[0-9.]+$)/i.test(bare) ? bare.slice(7) : bare;
  return isIP(plain) === 0 ? null : plain;
}

/** Reads the client's address of the peer and its `X-Forwarded-For`. Throws: RangeError for what is no network. */
export function createClientAddress(
  trusted: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const proxies = new BlockList();
  for (const text of trusted) {
    const network = networkOf(text);
    if (network === null) throw new RangeError('a trusted proxy is an address or a network');
    proxies.addSubnet(...network);
  }
  const isTrusted = (address: string) => proxies.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return (peer, forwardedFor = '') => {
    let client = addressOf(peer) ?? peer;
    if (trusted.length === 0) return client;
    for (const text of forwardedFor.split(',').reverse()) {
      const before = isTrusted(client) ? addressOf(text.trim()) : null;
      if (before === null) break;
      client = before;
    }
    return client;
  };
}
