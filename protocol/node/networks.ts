/** Addresses and networks as settings name them: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */
import { BlockList, isIP } from 'node:net';

const FAMILY_BITS = { 4: 32, 6: 128 } as const;
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

/** True for an address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return networkOf(text) !== null;
}

/** Whether one of the networks holds an address (IPv4 as such). Throws: RangeError for what is no network. */
export function networksOf(texts: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of texts) {
    const network = networkOf(text);
    if (network === null) throw new RangeError('a network is an address or a network such as 10.0.0.0/8');
    list.addSubnet(...network);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** IPv4 also where it is mapped into IPv6. */
export const plainAddress = (text: string): string => (/^::ffff:(?=[0-9.]+$)/i.test(text) ? text.slice(7) : text);
