/** `EDGE_WEBHOOK_ALLOWLIST`: hosts, addresses and networks that the edge may post webhooks to. Decisions 4. */
import { isIP } from 'node:net';

const ENTRIES_MAX = 1_000;

/**
 * What an entry with a path names: only this scheme, and only paths below the prefix; one without a slash at its end is
 * a path itself too.
 */
export interface Below {
  readonly secure: boolean;
  readonly prefix: string;
}

/**
 * `port` null: any port. A host is lower-case and ASCII; an address is in the form that a URL gives it. `below` absent:
 * any path.
 */
export type WebhookTarget =
  | { readonly kind: 'host'; readonly host: string; readonly port: number | null; readonly below?: Below }
  | { readonly kind: 'address'; readonly address: string; readonly port: number | null; readonly below?: Below }
  | { readonly kind: 'network'; readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' };

export type ParsedAllowlist =
  | { readonly ok: true; readonly targets: readonly WebhookTarget[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Entries of a comma-separated list: `host`, `host:port`, `address`, `[v6]:port`, `address/bits`,
 * `https://host:port/path/`.
 */
export function parseWebhookAllowlist(text: string): ParsedAllowlist {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > ENTRIES_MAX) return { ok: false, problems: [`more than ${ENTRIES_MAX} entries`] };
  const targets: WebhookTarget[] = [];
  const problems: string[] = [];
  entries.forEach((entry, index) => {
    const isUrl = /^https?:\/\//i.test(entry);
    const target = isUrl ? parseBelow(entry) : entry.includes('/') ? parseNetwork(entry) : parseHost(entry);
    if (target !== null && !isNetworkWithPath(entry)) targets.push(target);
    else problems.push(`entry ${index + 1} ${problemOf(entry, isUrl)}`);
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, targets };
}

/**
 * An address and a number behind a slash, with more around it: its author means a network, a URL would name the folder
 * `/8/` of one address.
 */
function isNetworkWithPath(entry: string): boolean {
  const [, address, bits, rest] =
    /^(?:https?:\/\/)?\[?([0-9a-fA-F:.]+?)\]?(?::[0-9]+)?\/([0-9]{1,3})(?=[/:]|$)(.*)$/i.exec(entry) ?? [];
  if (isIP(address ?? '') === 0 || Number(bits) > 128) return false;
  return /^https?:/i.test(entry) || entry.includes(']') || rest !== '';
}

function problemOf(entry: string, isUrl: boolean): string {
  if (isNetworkWithPath(entry))
    return 'is a network with more than its address and bits: a network allows any port and path (10.0.0.0/8); a path belongs to one host or address, https://10.1.2.3:8443/hooks/, one entry for each';
  if (isUrl)
    return 'is a URL without a plain path: write https://host:port/hooks/, without user, query, %, ; or //; for any path host or host:port';
  if (/^[0-9a-fA-F:.]+\/[0-9]+$/.test(entry) && isIP(entry.split('/')[0]!) !== 0)
    return 'is a network with more bits than its address has: at most 32, or 128 for IPv6';
  if (entry.includes('/') && !entry.includes('://'))
    return 'names a path without its scheme: write https://host:port/hooks/';
  return 'is no host, host:port, address, network or https://host:port/path/';
}

/**
 * Whether every reader takes a path for the same one: after the URL parser, which resolves `..`, `%2e%2e` and
 * backslashes, a path of letters, digits and `-._~!$&'()*+,=:@` only. An encoded slash or dot, a second encoding, a
 * parameter behind `;`, an empty segment or a letter that is no ASCII are read as a way up by one server or another.
 */
export function isPlainPath(path: string): boolean {
  return (
    /^(?:\/[A-Za-z0-9\-._~!$&'()*+,=:@]+)*\/?$/.test(path) && path.split('/').every((segment) => !/^\.+$/.test(segment))
  );
}

/** Whether a path of a parsed URL lies below a prefix, and no server can read it as one that does not. */
export function isBelow(path: string, { prefix }: Below): boolean {
  return (
    isPlainPath(path) &&
    (prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`))
  );
}

function parseBelow(entry: string): WebhookTarget | null {
  const url = URL.parse(entry);
  if (url === null || url.username !== '' || url.password !== '' || /[?#\\\s*]/.test(entry)) return null;
  const written = /^https?:\/\/[^/]*(\/.*)$/i.exec(entry)?.[1] ?? '';
  // As it is written: a prefix that the parser would change names another folder than its author means.
  if (written !== url.pathname || !isPlainPath(written) || written === '/') return null;
  const secure = url.protocol === 'https:',
    port = url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    host = hostOf(url);
  const below = { secure, prefix: written };
  return isIP(host) === 0 ? { kind: 'host', host, port, below } : { kind: 'address', address: host, port, below };
}

function parseNetwork(entry: string): WebhookTarget | null {
  const [, address, bitsText] = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/.exec(entry) ?? [];
  const version = isIP(address ?? '');
  const bits = Number(bitsText);
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return null;
  return { kind: 'network', address: address!, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function parseHost(entry: string): WebhookTarget | null {
  // A star would match nothing; the URL parser drops a line break, and takes a number for an address.
  if (/[*\p{Cc}]|^-/u.test(entry) || entry.length > 260) return null;
  if (/^[0-9.]+$/.test(entry) && isIP(entry) === 0) return null;
  const bare = isIP(entry) === 6 ? `[${entry}]` : entry;
  // The URL parser brings every spelling of a host to the one that a webhook's URL will have after the same parser.
  const url = URL.parse(`http://${bare}`);
  if (
    url === null ||
    url.pathname !== '/' ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.hostname === ''
  )
    return null;
  const explicitPort = /:([0-9]{1,5})$/.exec(bare.replace(/^\[[^\]]*\]/, ''))?.[1];
  const port = explicitPort === undefined ? null : Number(explicitPort);
  const host = hostOf(url);
  return isIP(host) === 0 ? { kind: 'host', host, port } : { kind: 'address', address: host, port };
}

/** Host of a URL without the brackets of an IPv6 literal and without a trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
