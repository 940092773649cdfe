/**
 * The address of a client behind trusted proxies. Each proxy appends the peer that it saw to `X-Forwarded-For`, so the
 * header is read from its end, for as long as a proxy of ours wrote it: anybody may have written what comes before
 * it.
 */
import { isIP } from 'node:net';
import { networksOf, plainAddress } from '../../protocol/node/networks.ts';

const WITH_PORT = /^(?:\[([^\]]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/;

/** Address of a name server, with a port where it is no default one. */
export const NAME_SERVER = /^(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/** An address without its port, IPv4 also where it is mapped into IPv6; null for any other text. */
function addressOf(text: string): string | null {
  const match = WITH_PORT.exec(text);
  const bare = match?.[1] ?? match?.[2] ?? text;
  const plain = plainAddress(bare);
  return isIP(plain) === 0 ? null : plain;
}

/** Reads the client's address of the peer and its `X-Forwarded-For`. Throws: RangeError for what is no network. */
export function createClientAddress(
  trusted: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const isTrusted = networksOf(trusted);
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
