/** `EDGE_WEBHOOK_ALLOWLIST`: hosts, addresses and networks that the edge may post webhooks to. Decisions 4. */
import { isIP } from 'node:net';

const ENTRIES_MAX = 1_000;

/** `port` null: any port. A host is lower-case and ASCII; an address is in the form that a URL gives it. */
export type WebhookTarget =
  | { readonly kind: 'host'; readonly host: string; readonly port: number | null }
  | { readonly kind: 'address'; readonly address: string; readonly port: number | null }
  | { readonly kind: 'network'; readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' };

export type ParsedAllowlist =
  | { readonly ok: true; readonly targets: readonly WebhookTarget[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Entries of a comma-separated list: `host`, `host:port`, `address`, `[v6]:port`, `address/bits`. */
export function parseWebhookAllowlist(text: string): ParsedAllowlist {
  const entries = text.split(',').map((entry) => entry.trim()).filter((entry) => entry !== '');
  if (entries.length > ENTRIES_MAX) return { ok: false, problems: [`more than ${ENTRIES_MAX} entries`] };
  const targets: WebhookTarget[] = [];
  const problems: string[] = [];
  entries.forEach((entry, index) => {
    const target = entry.includes('/') ? parseNetwork(entry) : parseHost(entry);
    if (target === null) problems.push(`entry ${index + 1} is no host, host:port, address or network`);
    else targets.push(target);
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, targets };
}

function parseNetwork(entry: string): WebhookTarget | null {
  const [, address, bitsText] = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/.exec(entry) ?? [];
  const version = isIP(address ?? '');
  const bits = Number(bitsText);
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return null;
  return { kind: 'network', address: address!, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function parseHost(entry: string): WebhookTarget | null {
  const bare = isIP(entry) === 6 ? `[${entry}]` : entry;
  // The URL parser brings every spelling of a host to the one that a webhook's URL will have after the same parser.
  const url = URL.parse(`http://${bare}`);
  if (url === null || url.pathname !== '/' || url.username !== '' || url.search !== '' || url.hash !== '' || url.hostname === '') return null;
  const explicitPort = /:([0-9]{1,5})$/.exec(bare.replace(/^\[[^\]]*\]/, ''))?.[1];
  const port = explicitPort === undefined ? null : Number(explicitPort);
  const host = hostOf(url);
  return isIP(host) === 0 ? { kind: 'host', host, port } : { kind: 'address', address: host, port };
}

/** Host of a URL without the brackets of an IPv6 literal and without a trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
