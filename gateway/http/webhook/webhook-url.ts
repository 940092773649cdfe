/**
 * Where a webhook may point. The cloud never opens a connection to it: the edge does, and decides by its own policy.
 * The rules here keep a live account from sending events in clear text over the public internet. Decisions 9.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Environment } from '../../../protocol/slugs.ts';

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
}
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/**
 * Null for a URL that the environment allows. Refuses: INVALID_INPUT (not http or https, credentials, http to a
 * public host in live).
 */
export function checkWebhookUrl(text: string, environment: Environment): Refusal | null {
  const no = (reason: string) =>
    refuse('INVALID_INPUT', { field: 'url', problems: [{ field: 'url', message: reason }] });
  const url = URL.canParse(text) ? new URL(text) : null;
  // The parser drops blanks and line breaks: what is stored and shown would not be where it goes.
  if (url === null || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text)) return no('an http or https URL');
  if (url.username !== '' || url.password !== '') return no('a URL without user and password');
  if (url.hash !== '') return no('a URL without a fragment');
  const open = environment === 'live' && url.protocol === 'http:' && !isInside(url.hostname);
  if (open) return no('https, or http to a host of your own network');
  return null;
}

/** A host that can only be in the edge's own network: private literal, single label, `.internal`, `.local`. */
function isInside(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIPv4(bare)) return PRIVATE.check(bare, 'ipv4');
  if (isIPv6(bare)) return PRIVATE.check(bare, 'ipv6');
  return !bare.replace(/\.$/, '').includes('.') || /\.(?:internal|local)\.?$/i.test(bare);
}
