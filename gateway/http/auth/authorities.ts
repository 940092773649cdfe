/**
 * The names under which this cloud is asked. A signature over another host's `@authority` was made for somebody else,
 * who passes it on: it is refused, however good it is. The pinned ones are that of PUBLIC_URL, those of
 * PUBLIC_AUTHORITIES, and, while PUBLIC_URL is a loopback address or DEVELOPER_MODE is on, the machine's own loopback
 * names at any port.
 */
import { isHost } from '../../../protocol/node/setting-forms.ts';

export interface Authorities {
  /**
   * Texts that a signature may have covered for this `Host`, the one of the request first: a default port may be named
   * or left out. Empty for a host that is not this cloud's.
   */
  formsOf(host: string): readonly string[];
  /**
   * Whether a page is of this cloud: its origin is one of the pinned names, or the loopback name that it asks under
   * itself. Another port of this machine is another program's.
   */
  isOwnPage(origin: string, host: string): boolean;
  /** For a refusal: how the cloud names itself. */
  readonly expected: string;
}

export interface AuthoritiesSettings {
  readonly publicUrl: string;
  /** `host` or `host:port`; a host alone is meant with the default ports. */
  readonly further?: readonly string[];
  readonly developerMode: boolean;
}

interface Name {
  readonly host: string;
  readonly port: string | null;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** A listener's own address; nobody is asked under it, so that it says no more than that no PUBLIC_URL was set. */
const UNSPECIFIED = new Set(['0.0.0.0', '[::]']);
const DEFAULT_PORTS: ReadonlySet<string> = new Set(['80', '443']);

export function createAuthorities({ publicUrl, further = [], developerMode }: AuthoritiesSettings): Authorities {
  const url = new URL(publicUrl),
    own = nameOf(url.host)!;
  const pinned = new Set([
    ...portsOf(own, url.protocol === 'https:' ? ['443'] : ['80']),
    ...further.flatMap((text) => {
      const name = nameOf(text);
      return name === null ? [] : portsOf(name, [...DEFAULT_PORTS]);
    }),
  ]);
  const atHome = developerMode || LOOPBACK.test(own.host) || UNSPECIFIED.has(own.host);
  return {
    expected: url.host,
    formsOf(host) {
      const name = nameOf(host);
      if (name === null || !(pinned.has(textOf(name)) || (atHome && LOOPBACK.test(name.host)))) return [];
      const said = host.toLowerCase();
      return name.port !== null && DEFAULT_PORTS.has(name.port) ? [said, said.slice(0, -name.port.length - 1)] : [said];
    },
    isOwnPage(origin, host) {
      const page = URL.parse(origin)?.host ?? '';
      const [name, asked] = [nameOf(page), nameOf(host)];
      if (name === null) return false;
      if (pinned.has(textOf(name))) return true;
      return atHome && asked !== null && LOOPBACK.test(name.host) && textOf(name) === textOf(asked);
    },
  };
}

/** Whether a text is a host, or a host and a port. */
export const isAuthority = (text: string): boolean =>
  nameOf(text) !== null && isHost(text.replace(/:\d{1,5}$/, '').replace(/^\[([^\]]*)\]$/, '$1'));

/** Host and port of an authority, the host in the one spelling that a URL gives it; null for anything else. */
function nameOf(text: string): Name | null {
  const [, port = null] = /:(\d{1,5})$/.exec(text.replace(/^\[[^\]]*\]/, '')) ?? [];
  // A scheme without a default port of its own would keep the spelling of the host.
  const url = /^[^\s/?#@\\]+$/.test(text) ? URL.parse(`http://${text}`) : null;
  if (url === null || url.hostname === '' || url.pathname !== '/') return null;
  return { host: url.hostname.replace(/\.$/, ''), port: port === null ? null : String(Number(port)) };
}

/** The forms of a name: without a port it has the default ones too, and the other way about. */
function portsOf({ host, port }: Name, defaults: readonly string[]): string[] {
  const forms = port === null ? [null, ...defaults] : DEFAULT_PORTS.has(port) ? [null, port] : [port];
  return forms.map((each) => textOf({ host, port: each }));
}

const textOf = ({ host, port }: Name): string => (port === null ? host : `${host}:${port}`);

/** True for a URL that is an origin alone; what is no URL is named elsewhere. */
export const isOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { pathname, search, hash } = new URL(text);
  return pathname === '/' && search === '' && hash === '';
};
