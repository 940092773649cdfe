/** What kind of network an IP address belongs to. Pure. Source: the IANA special-purpose address registries. */
import { BlockList, isIP } from 'node:net';

/**
 * `forbidden`  link-local (cloud metadata), multicast, unspecified, and every form that wraps another address: only an
 *              exactly named address may be posted to
 * `private`    a network that is not the internet's: only what the allow-list names
 * `public`     everything else
 */
export type AddressClass = 'loopback' | 'forbidden' | 'private' | 'public';

type Range = readonly [address: string, bits: number];

const LOOPBACK: readonly Range[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];

const FORBIDDEN: readonly Range[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Metadata of three clouds outside of the link-local range.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  // Forms that wrap an IPv4 address.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
];

const PRIVATE: readonly Range[] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['fc00::', 7],
  ['fec0::', 10],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
];

const loopback = blockListOf(LOOPBACK);
const forbidden = blockListOf(FORBIDDEN);
const special = blockListOf(PRIVATE);

export function blockListOf(ranges: readonly Range[]): BlockList {
  const blocked = new BlockList();
  for (const [address, bits] of ranges) blocked.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return blocked;
}

/** The IPv4 address inside of `::ffff:a.b.c.d` in any spelling; other addresses in the form that a URL gives them. */
export function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const canonical = new URL(`http://[${address.split('%')[0]!}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Class of an address in text form; what is no address is `forbidden`. */
export function classOf(text: string): AddressClass {
  const address = plainAddress(text);
  const version = isIP(address);
  if (version === 0) return 'forbidden';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (loopback.check(address, family)) return 'loopback';
  if (forbidden.check(address, family)) return 'forbidden';
  return special.check(address, family) ? 'private' : 'public';
}
