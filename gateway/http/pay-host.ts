/**
 * A host of its own for payers: where PAY_URL names another host than PUBLIC_URL, it serves what payers ask and nothing
 * else, so that no page of it shares an origin with the console. payments P7.
 */
const OF_PAYERS = /^\/(?:pay|invoices|embed|v1\/checkout)\//;

/** Whether a host serves a path. `host` as the request has it, with or without a port. */
export function servesOn(
  publicUrl: string,
  payUrl: string | undefined,
): (host: string | undefined, path: string) => boolean {
  const [own, payers] = [new URL(publicUrl), new URL(payUrl ?? publicUrl)];
  if (payers.host === own.host) return () => true;
  // Two ports of one name are two hosts; else a port of the way behind a proxy says nothing.
  const part = payers.hostname === own.hostname ? 'host' : 'hostname',
    name = plain(payers[part]);
  return (host, path) => OF_PAYERS.test(path) || nameOf(host, part) !== name;
}

/** A name at its end has a dot or none. */
const plain = (name: string): string => name.replace(/\.(?=:\d+$|$)/, '');

function nameOf(host: string | undefined, part: 'host' | 'hostname'): string | null {
  const url = `http://${host ?? ''}`;
  return URL.canParse(url) ? plain(new URL(url)[part]) : null;
}
